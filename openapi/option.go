package openapi

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"signpost"
)

// readValues adds the values of enum and const, with their labels.
func (im *importer) readValues(n *node, s *shape) {
	values := n.get("enum").list()
	labels := s.labels(im, n, values)
	for i, v := range values {
		if !v.is(null) {
			s.values = append(s.values, choice{v, labels[i]})
		}
	}
	for _, v := range n.get("const").list() {
		if !v.is(null) {
			s.values = append(s.values, choice{v, s.title})
		}
	}
}

// labels returns the labels that extensions give to the values of an enum: the names that code generators use, or
// descriptions that are short enough. The extension is a list in the order of the values, or an object.
func (s *shape) labels(im *importer, n *node, values []*node) []string {
	labels := make([]string, len(values))
	for _, field := range []string{"x-enum-varnames", "x-enumNames", "x-enum-descriptions", "x-enumDescriptions"} {
		given := n.get(field)
		if given.is(list) && len(given.items) != len(values) {
			s.warnings = append(s.warnings, fmt.Sprintf("%s is ignored: its length is %d, and there are %d values", field, len(given.items), len(values)))
			continue
		}
		for i, v := range values {
			var label *node
			switch {
			case labels[i] != "":
			case given.is(list):
				label = given.items[i]
			case v.isScalar():
				label = given.get(v.text)
			}
			if identifier.MatchString(label.string()) {
				labels[i] = humanise(label.string())
			} else if label != nil {
				labels[i] = im.headline(label, maxHeadline)
			}
		}
	}
	return labels
}

var (
	// identifier matches a name as used in programs.
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

	// valueWords matches values that read better as words. Codes such as en-GB or HD are left alone.
	valueWords = regexp.MustCompile(`^[a-z]{3,}(_[a-z]+)*$|^[a-z]{2}_[a-z]{3,}(_[a-z]+)*$|^[A-Z]{3,}(_[A-Z]+)+$`)
)

// optionSet is the options of a select.
type optionSet struct {
	list []signpost.Option
	has  map[string]bool // by value
	text string          // as YAML, one per line
}

// optionResult holds the options made from a list of values, and the notes about them.
type optionResult struct {
	set      *optionSet
	warnings []string
}

// optionsOf returns the options for the values of a shape. Equal lists share a set, so that equal modifiers can be
// found, and a list that many parameters share is processed once.
func (im *importer) optionsOf(s *shape) optionResult {
	first := &s.values[0]
	r, known := im.options[first]
	if !known {
		r.set, r.warnings = newOptionSet(s.values)
		if same := im.optionTexts[r.set.text]; same != nil {
			r.set = same
		}
		im.options[first], im.optionTexts[r.set.text] = r, r.set
	}
	return r
}

// newOptionSet makes options from values, each with a label of its own. Option values are strings, whatever their type
// in the schema.
func newOptionSet(values []choice) (set *optionSet, warnings []string) {
	set = &optionSet{has: make(map[string]bool)}
	numbers, labels := false, make(map[string]int)
	for _, c := range values {
		value := c.value.text
		if value == "" || set.has[value] {
			if len(warnings) < maxWarnings {
				warnings = append(warnings, fmt.Sprintf("value %q is left out: options need distinct, non-empty values", short(value)))
			}
			continue
		}
		label := oneLine(value)
		if valueWords.MatchString(value) {
			label = humanise(value)
		}
		label = cmp.Or(c.label, label, value)
		set.has[value], numbers = true, numbers || c.value.is(number)
		labels[label]++
		set.list = append(set.list, signpost.Option{Value: value, Label: label})
	}
	if numbers {
		warnings = append(warnings, "its numbers become text: the values of options are strings")
	}
	var text strings.Builder
	for i, o := range set.list {
		if labels[o.Label] > 1 {
			o.Label = fmt.Sprintf("%s (%s)", o.Label, strings.Trim(strconv.Quote(o.Value), `"`))
			set.list[i] = o
		}
		fmt.Fprintf(&text, "{value: %s, label: %s},\n", scalar(o.Value), scalar(o.Label))
	}
	set.text = strings.TrimSuffix(text.String(), ",\n")
	return set, warnings
}
