package cli

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signpost/client"
	"signpost/internal/readfile"
	"signpost/internal/tree"
)

// pairs is a repeatable key=value flag whose values may also be separated by commas or line breaks. Set accepts
// everything and parse validates it later, because cobra prints the value with an error of Set, and it may be secret.
type pairs struct {
	form    string // form shown in the help
	given   []string
	unclear bool // a text could not be taken apart
}

// String returns nothing that was given, because it may be secret.
func (p *pairs) String() string { return strings.Repeat("…", min(len(p.given), 1)) }

func (p *pairs) Type() string { return p.form }

func (p *pairs) Set(text string) error {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil { // quotes inside a value: it can only be a single one if there is nothing to take apart
		lines = [][]string{{text}}
		p.unclear = p.unclear || strings.ContainsAny(text, ",\r\n") || strings.HasPrefix(text, `"`)
	}
	p.given = append(p.given, slices.Concat(lines...)...)
	return nil
}

// parse returns the values by key, with defaults for keys that are not given. Its errors name keys, but never values.
func (p *pairs) parse(flag string, defaults map[string]string) (map[string]string, error) {
	if p.unclear {
		return nil, usageErrorf(`%s: a double quote in a list of %s leaves open where a value ends; `+
			`put each pair in double quotes, and double the quotes in it: '"key={""id"":7}"'`, flag, p.form)
	}
	values := make(map[string]string, len(p.given))
	for _, pair := range p.given {
		key, value, ok := strings.Cut(pair, "=")
		_, taken := values[key]
		switch {
		case !ok:
			return nil, usageErrorf(`%s takes %s, and one has no "=" in it; `+
				`a value with a comma or a line break goes in double quotes: %[1]s '"key=a,b"'`, flag, p.form)
		case key == "":
			return nil, usageErrorf(`%s takes %s, and one has nothing before the "="`, flag, p.form)
		case value == "":
			return nil, usageErrorf("%s: %q has no value", flag, key)
		case taken:
			return nil, usageErrorf("%s: %q is given twice", flag, key)
		}
		values[key] = value
	}
	all := make(map[string]string)
	maps.Copy(all, defaults)
	maps.Copy(all, values)
	return all, nil
}

// readValues reads a file of values: those for all endpoints and, under endpoints, for single ones, by URL or path. There
// are none if path is empty.
func readValues(path string) (all client.Values, endpoints map[string]client.Values, err error) {
	if path == "" {
		return all, nil, nil
	}
	text, err := readfile.Limit(path, maxFile)
	if err != nil {
		return all, nil, fmt.Errorf("read --values: %w", err)
	}
	r := valuesReader{path: path, doc: tree.Parse(text, false), endpoints: make(map[string]client.Values)}
	for _, p := range r.doc.Problems {
		if p.Kind == tree.Syntax { // the message may quote the file
			p.Message = "not valid YAML"
		}
		r.fail(p.At, "%s", p.Message)
	}
	if r.err == nil {
		all = r.values(r.doc.Root, "params", "context", "endpoints")
	}
	return all, r.endpoints, r.err
}

// valuesReader reads parts of a file of values. It keeps the first mistake, which names keys and places, but never
// values.
type valuesReader struct {
	path      string
	doc       *tree.Document
	endpoints map[string]client.Values
	err       error
}

func (r *valuesReader) fail(at *tree.Node, format string, args ...any) {
	if r.err == nil {
		line, column := r.doc.Position(at.Start())
		r.err = fmt.Errorf("read --values: %s:%d:%d: %s", r.path, line, column, fmt.Sprintf(format, args...))
	}
}

// fields returns the fields of an object, which may be missing. The rule says what it must be.
func (r *valuesReader) fields(n *tree.Node, rule string) []tree.Field {
	if n == nil || n.Kind == tree.Null {
		return nil
	}
	if n.Kind != tree.Object {
		r.fail(n, "%s, not %v", rule, n.Kind)
	}
	return n.Fields
}

// values reads an object with some of the fields params, context, feed and endpoints.
func (r *valuesReader) values(n *tree.Node, known ...string) (v client.Values) {
	for _, f := range r.fields(n, "this must be an object with "+strings.Join(known, ", ")) {
		switch name := f.Key.Text; {
		case !slices.Contains(known, name):
			r.fail(f.Key, "unknown field %q%s", name, suggest(name, known))
		case name == "params":
			v.Params = r.texts(f)
		case name == "context":
			v.Context = r.texts(f)
		case name == "feed":
			v.Feed = f.Value.Text
			if f.Value.Kind != tree.String || !isURLOrPath(v.Feed) {
				r.fail(f.Value, "feed must be the URL of a feed, or a path that begins with a slash")
			}
		case name == "endpoints":
			for _, e := range r.fields(f.Value, "endpoints must be an object of URLs or paths") {
				if !isURLOrPath(e.Key.Text) {
					r.fail(e.Key, "%q is neither the URL of an endpoint nor a path that begins with a slash", e.Key.Text)
				}
				r.endpoints[e.Key.Text] = r.values(e.Value, "params", "context", "feed")
			}
		}
	}
	return v
}

func isURLOrPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.Contains(text, "://")
}

// texts reads an object whose values are strings, numbers or Booleans.
func (r *valuesReader) texts(f tree.Field) map[string]string {
	values := make(map[string]string)
	for _, v := range r.fields(f.Value, f.Key.Text+" must be an object of names and values") {
		switch v.Value.Kind {
		case tree.String, tree.Number, tree.Bool:
			values[v.Key.Text] = v.Value.Text
			if v.Value.Text == "" {
				r.fail(v.Value, "%q has no value", v.Key.Text)
			}
		default:
			r.fail(v.Value, "the value of %q must be text, a number or a boolean, not %v", v.Key.Text, v.Value.Kind)
		}
	}
	return values
}
