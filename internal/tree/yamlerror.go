package tree

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"
)

func (d *Document) yamlError(err error, maxDepth int) {
	line, column := 1, 1
	message, hint := err.Error(), ""
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		message = one.Message
		if one.ContextMsg != "" {
			message = one.ContextMsg + ": " + message
		}
		if one.Mark.Line > 0 {
			line, column = one.Mark.Line, one.Mark.Column
		}
	}
	switch {
	case strings.Contains(message, errTooDeep.Error()):
		d.tooDeep(d.Offset(line, column), maxDepth)
		return
	case strings.Contains(message, "no documents in stream"):
		return // the caller says that the file is empty
	case strings.Contains(message, "expected single document"):
		message, hint = "more than one YAML document in the file", "one file holds one service: put the next one into a file of its own"
	case strings.HasPrefix(string(d.Line(line)), "\t") || strings.Contains(message, "cannot start any token") && column == 1:
		hint = "YAML is indented with spaces, not tabs"
	case strings.Contains(string(d.Line(line)), "{{"):
		hint = "a value that begins with { needs quotes"
	}
	at := d.Offset(line, column)
	d.syntax(hint, at, at+1, "%s", strings.TrimPrefix(message, "yaml: "))
}
