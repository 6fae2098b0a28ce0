package cli

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"signpost/client"
	"signpost/internal/readfile"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// pairs is a repeatable key=value flag whose values may also be separated by commas or line breaks. Set accepts
// everything and parse validates it later, because cobra prints the value with an error of Set, and it may be secret.
type pairs struct {
	form  string // form shown in the help
	given []string
}

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return p.form }

func (p *pairs) Set(text string) error {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil { // quotes inside a value: treat it as a single value
		lines = [][]string{{text}}
	}
	p.given = append(p.given, slices.Concat(lines...)...)
	return nil
}

// parse returns the values by key. Its errors name keys, but never values.
func (p *pairs) parse(flag string) (map[string]string, error) {
	values := make(map[string]string, len(p.given))
	for _, pair := range p.given {
		key, value, ok := strings.Cut(pair, "=")
		_, taken := values[key]
		switch {
		case !ok:
			return nil, usageErrorf(`%s takes %s, and one has no "=" in it; a value with a comma or a line break goes in double quotes: %[1]s '"key=a,b"'`, flag, p.form)
		case key == "":
			return nil, usageErrorf(`%s takes %s, and one has nothing before the "="`, flag, p.form)
		case value == "":
			return nil, usageErrorf("%s: %q has no value", flag, key)
		case taken:
			return nil, usageErrorf("%s: %q is given twice", flag, key)
		}
		values[key] = value
	}
	return values, nil
}

// maxValues is the maximum size of the --values file in bytes. It is written by hand.
const maxValues = 1 << 20

// valuesFile is the contents of the --values file: values for all endpoints, and for single ones.
type valuesFile struct {
	client.Values
	endpoints map[string]client.Values // by URL or path
}

// readValues reads a file of values. Its errors name keys and positions, but never values.
func readValues(path string) (valuesFile, error) {
	text, err := readfile.Limit(path, maxValues)
	if err != nil {
		return valuesFile{}, fmt.Errorf("read --values: %w", err)
	}
	doc := tree.Parse(text, tree.Options{})
	r := valuesReader{path: path, doc: doc}
	if len(doc.Problems) > 0 {
		p := doc.Problems[0]
		if p.Kind == tree.Syntax { // the message may quote the file
			return valuesFile{}, r.errorf(p.At, "not valid YAML")
		}
		return valuesFile{}, r.errorf(p.At, "%s", p.Message)
	}
	var v valuesFile
	if v.Values, err = r.values(doc.Root, "params", "context", "endpoints"); err != nil {
		return valuesFile{}, err
	}
	_, endpoints := doc.Root.Field("endpoints")
	if endpoints == nil {
		return v, nil
	}
	if endpoints.Kind != tree.Object {
		return valuesFile{}, r.errorf(endpoints, "endpoints must be an object of URLs or paths, not %v", endpoints.Kind)
	}
	v.endpoints = make(map[string]client.Values, len(endpoints.Fields))
	for _, f := range endpoints.Fields {
		if !strings.HasPrefix(f.Key.Text, "/") && !strings.Contains(f.Key.Text, "://") {
			return valuesFile{}, r.errorf(f.Key, "%q is neither the URL of an endpoint nor a path that begins with a slash", f.Key.Text)
		}
		if v.endpoints[f.Key.Text], err = r.values(f.Value, "params", "context", "feed"); err != nil {
			return valuesFile{}, err
		}
	}
	return v, nil
}

// valuesReader reads parts of a file of values.
type valuesReader struct {
	path string
	doc  *tree.Document
}

func (r valuesReader) errorf(at *tree.Node, format string, args ...any) error {
	line, column := r.doc.Position(at.Start())
	return fmt.Errorf("read --values: %s:%d:%d: %s", r.path, line, column, fmt.Sprintf(format, args...))
}

// values reads an object with params and context.
func (r valuesReader) values(n *tree.Node, known ...string) (client.Values, error) {
	var v client.Values
	switch {
	case n == nil || n.Kind == tree.Null:
		return v, nil
	case n.Kind != tree.Object:
		return v, r.errorf(n, "this must be an object with %s, not %v", strings.Join(known, ", "), n.Kind)
	}
	for _, f := range n.Fields {
		var err error
		switch name := f.Key.Text; {
		case !slices.Contains(known, name):
			hint := "known: " + strings.Join(known, ", ")
			if near := spell.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return v, r.errorf(f.Key, "unknown field %q; %s", name, hint)
		case name == "params":
			v.Params, err = r.texts(f)
		case name == "context":
			v.Context, err = r.texts(f)
		case name == "feed" && (f.Value.Kind != tree.String || !strings.HasPrefix(f.Value.Text, "/") && !strings.Contains(f.Value.Text, "://")):
			err = r.errorf(f.Value, "feed must be the URL of a feed, or a path that begins with a slash")
		case name == "feed":
			v.Feed = f.Value.Text
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// texts reads an object whose values are strings, numbers or Booleans.
func (r valuesReader) texts(f tree.Field) (map[string]string, error) {
	switch f.Value.Kind {
	case tree.Null:
		return nil, nil
	case tree.Object:
	default:
		return nil, r.errorf(f.Value, "%s must be an object of names and values, not %v", f.Key.Text, f.Value.Kind)
	}
	values := make(map[string]string, len(f.Value.Fields))
	for _, v := range f.Value.Fields {
		switch v.Value.Kind {
		case tree.String, tree.Number, tree.Bool:
			if values[v.Key.Text] = v.Value.Text; v.Value.Text == "" {
				return nil, r.errorf(v.Value, "%q has no value", v.Key.Text)
			}
		default:
			return nil, r.errorf(v.Value, "the value of %q must be text, a number or a boolean, not %v", v.Key.Text, v.Value.Kind)
		}
	}
	return values, nil
}
