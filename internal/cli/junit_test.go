package cli

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signpost/client"
)

// element is an element of JUnit XML according to the schemas that CI servers use: those of Ant and of Jenkins' xUnit
// plugin. Ant's is the strictest, so its order and required attributes apply.
type element struct {
	attributes map[string]string // patterns by name; all are required
	optional   map[string]string
	children   []string // in this order
	many       string   // child that may occur any number of times
	choice     bool     // at most one of the children
	text       bool
}

var junitSchema = map[string]element{
	"testsuites": {children: []string{"testsuite"}, many: "testsuite"},
	"testsuite": {
		attributes: map[string]string{
			"name": `\S(.*\S)?`, "package": `\S(.*\S)?`, "id": `\d+`, "timestamp": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "hostname": `\S+`,
			"tests": `\d+`, "failures": `\d+`, "errors": `\d+`, "time": `\d+(\.\d+)?`,
		},
		optional: map[string]string{"skipped": `\d+`},
		children: []string{"properties", "testcase", "system-out", "system-err"}, many: "testcase",
	},
	"properties": {},
	"testcase": {
		attributes: map[string]string{"name": `\S(.*\S)?`, "classname": `\S+`, "time": `\d+(\.\d+)?`},
		children:   []string{"skipped", "failure"}, choice: true,
	},
	"failure":    {attributes: map[string]string{"type": `\S+`}, optional: map[string]string{"message": `.*`}, text: true},
	"skipped":    {optional: map[string]string{"message": `.*`}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// validateJUnit validates a document against the schema, and its counts against its cases.
func validateJUnit(t *testing.T, doc []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(doc))
	counts := make(map[string]int)
	names := make(map[string]bool)
	claimed := make(map[string]string)
	type open struct {
		name     string
		children []string
	}
	stack := []open{{name: ""}}
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		parent := &stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			counts[name]++
			rule, known := junitSchema[name]
			if !known || parent.name == "" && name != "testsuites" || parent.name != "" && !slices.Contains(junitSchema[parent.name].children, name) {
				t.Errorf("<%s> in <%s>", name, parent.name)
			}
			parent.children = append(parent.children, name)
			given := make(map[string]string)
			for _, a := range token.Attr {
				given[a.Name.Local] = a.Value
				pattern := rule.attributes[a.Name.Local] + rule.optional[a.Name.Local]
				if pattern == "" || !regexp.MustCompile(`^(?s:`+pattern+`)$`).MatchString(a.Value) {
					t.Errorf("<%s %s=%q>", name, a.Name.Local, a.Value)
				}
			}
			for attribute := range rule.attributes {
				if _, ok := given[attribute]; !ok {
					t.Errorf("<%s> without %s", name, attribute)
				}
			}
			if name == "testsuite" {
				claimed = given
			}
			if name == "testcase" {
				if id := given["classname"] + " " + given["name"]; names[id] {
					t.Errorf("two cases have the name %q", id)
				} else {
					names[id] = true
				}
			}
			stack = append(stack, open{name: name})
		case xml.EndElement:
			rule := junitSchema[parent.name]
			at := 0
			for _, child := range parent.children {
				i := slices.Index(rule.children, child)
				if i < at {
					t.Errorf("<%s> has %q, in this order", parent.name, parent.children)
				}
				at = i
			}
			if rule.choice && len(parent.children) > 1 {
				t.Errorf("<%s> has %q", parent.name, parent.children)
			}
			if !rule.choice && parent.name == "testsuite" {
				for _, child := range rule.children {
					if child != rule.many && !slices.Contains(parent.children, child) {
						t.Errorf("<%s> without <%s>", parent.name, child)
					}
				}
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" && !junitSchema[parent.name].text {
				t.Errorf("text %q in <%s>", token, parent.name)
			}
		}
	}
	for attribute, name := range map[string]string{"tests": "testcase", "failures": "failure", "skipped": "skipped"} {
		if claimed[attribute] != strconv.Itoa(counts[name]) {
			t.Errorf("%s=%q, want %d", attribute, claimed[attribute], counts[name])
		}
	}
}

func TestPrintJUnit(t *testing.T) {
	report := client.Report{Address: "https://feeds.example.com/v1/endpoints-manifest", Results: []client.Result{
		{Check: "https", Status: client.Passed, Message: "the address is https"},
		{Check: "manifest", Status: client.Warned, Message: "odd <b> & ]]> \x1b[2J", Hint: "one\ntwo"},
		{Check: "manifest", Status: client.Warned, Message: "odd, too"},
		{Check: "probe", Status: client.Skipped, Endpoint: "https://feeds.example.com/{{id}}", Message: "it needs a value"},
		{Check: "feed", Status: client.Passed, Endpoint: "https://feeds.example.com/a", Message: "fine"},
		{Check: "feed", Status: client.Failed, Endpoint: "https://feeds.example.com/a", Message: `/x: "a" is wrong`, Hint: "correct it"},
		{Check: "feed", Status: client.Failed, Endpoint: "https://feeds.example.com/a", Message: "/y: ]]> is wrong", Hint: "correct it"},
		{Check: "links", Status: client.Skipped, Message: "nothing"},
		{Check: "links", Status: client.Skipped, Message: "nothing at all"},
	}}
	var out bytes.Buffer
	if err := printJUnit(&out, report, time.Now()); err != nil {
		t.Fatal(err)
	}
	validateJUnit(t, out.Bytes())
	var got junitSuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suite
	if s.Tests != 5 || s.Failures != 1 || s.Skipped != 2 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
	failure := s.Cases[3].Failure
	if want := "/x: \"a\" is wrong\n  hint: correct it\n/y: ]]> is wrong\n  hint: correct it\n"; failure == nil || failure.Text != want || failure.Message != `/x: "a" is wrong` || failure.Type != "feed" {
		t.Errorf("%+v", failure)
	}
	if want := "warned: manifest: odd <b> & ]]> \\u001b[2J\n  hint: one\n  hint: two\nwarned: manifest: odd, too\n"; s.SystemOut.Text != want {
		t.Errorf("%q", s.SystemOut.Text)
	}
	if fmt.Sprint(s.Cases[2].Skipped) != "&{it needs a value}" || s.Cases[2].Name != "probe https://feeds.example.com/{{id}}" {
		t.Errorf("%+v", s.Cases[2])
	}
}
