package client

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"signpost"
)

// Defaults returns the values that the studio pre-fills, by the key of the param.
func Defaults(e signpost.Endpoint) map[string]string {
	values := make(map[string]string)
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			switch value := p.Schema.Default.(type) {
			case nil:
			case string:
				values[p.Key] = value
			default:
				if text, err := json.Marshal(value); err == nil { // as in the manifest: 1000000, not 1e+06
					values[p.Key] = string(text)
				}
			}
		}
	}
	return values
}

// htmlNumber matches what an HTML number input accepts: .5 is valid, 5. is not.
var htmlNumber = regexp.MustCompile(`^-?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// CheckValue returns an error if the studio's control for a param cannot have the value. An empty value means not
// chosen and is always valid.
func CheckValue(p signpost.Param, value string) error {
	if value == "" {
		return nil
	}
	switch p.Schema.Type {
	case signpost.TypeNumber:
		if _, err := strconv.ParseFloat(value, 64); err != nil || !htmlNumber.MatchString(value) {
			return fmt.Errorf("modifier %q takes a number, not %q", p.Key, value)
		}
	case signpost.TypeBoolean:
		if value != "true" && value != "false" {
			return fmt.Errorf("modifier %q takes true or false, not %q", p.Key, value)
		}
	}
	choices := slices.Clone(p.Schema.Enum)
	if len(choices) == 0 {
		for _, o := range p.UI.Options {
			choices = append(choices, o.Value)
		}
	}
	if len(choices) > 0 && !slices.Contains(choices, value) {
		return fmt.Errorf("modifier %q takes one of %q, not %q", p.Key, choices, value)
	}
	return nil
}
