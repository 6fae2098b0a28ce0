package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func all(string) bool { return true }

func TestReadOutline(t *testing.T) {
	o := readOutline([]byte(` {"a": ["x", {"b/c~": "https://h/1"}, ["HTTP://h/2"]], "https://key/": 1, "n": 20, "s": "see https://h/3", "t": "ftp://h/4", "e": "https://h/5"} `), all)
	var got []string
	for _, l := range o.links {
		got = append(got, l.url+" "+l.pointer+" "+l.pattern)
	}
	want := []string{"https://h/1 /a/1/b~1c~0 /a/*/b~1c~0", "HTTP://h/2 /a/2/0 /a/*/*", "https://h/5 /e /e"}
	if diff := cmp.Diff(want, got); diff != "" || o.kind != "an object" || o.broken {
		t.Errorf("%+v %s", o, diff)
	}
	if diff := cmp.Diff([]string{"a", "https://key/", "n", "s", "t", "e"}, o.keys); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]outline{
		"":                  {broken: true},
		"null":              {kind: "null"},
		`"https://h/"`:      {kind: "a string", links: []link{{url: "https://h/"}}},
		"[]":                {kind: "an array"},
		`{"a":`:             {kind: "an object", broken: true, keys: []string{"a"}},
		`{"a":1}{}`:         {kind: "an object", broken: true, keys: []string{"a"}},
		"-1":                {kind: "a number"},
		"true":              {kind: "a boolean"},
		`["https://h/", <]`: {kind: "an array", broken: true, links: []link{{"https://h/", "/0", "/*", nil, "", false}}},
	} {
		if diff := cmp.Diff(want, readOutline([]byte(text), all), cmp.AllowUnexported(outline{}, link{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestOutlineIsBounded(t *testing.T) {
	entries := strings.Repeat(`"https://h/x",`, maxLinks+10)
	o := readOutline([]byte(`{"`+strings.Repeat("k", 1<<20)+`": [`+entries+`1]}`), all)
	if len(o.links) != maxLinks || !o.more || len(o.links[0].pointer) > maxPointer+len("/…") || !strings.HasSuffix(o.links[0].pointer, "/…") {
		t.Errorf("%d links, %v, %.300q", len(o.links), o.more, o.links[0].pointer)
	}
	const depth = 9000
	o = readOutline([]byte(strings.Repeat("[", depth)+`"https://h/"`+strings.Repeat("]", depth)), all)
	if len(o.links) != 1 || len(o.links[0].pointer) > maxPointer+len("/…") {
		t.Errorf("%d links", len(o.links))
	}
}

func TestIsError(t *testing.T) {
	for text, want := range map[string]bool{
		`{"error": "x"}`: true, `{"errors": [], "status": 500}`: true, `{"message": "x"}`: false, `{"error": null, "entry": []}`: false, `{}`: false,
		`{"type": "feed", "title": "x"}`: false, `{"error": {"error": 1}, "timestamp": 1, "path": "/"}`: true,
	} {
		if got := readOutline([]byte(text), all).isError(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// FuzzReadOutline checks that the links are those found in the parsed tree, at the locations of their pointers.
func FuzzReadOutline(f *testing.F) {
	for _, text := range []string{`{"a":["https://h/1",{"b":"http://h/2"}]}`, `"https://h"`, `[[["http://x/"]],{"":{"~/":"https://y/?q=1"}}]`, `{"a":1,"a":"https://h/"}`, `[1`, `{}{}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := readOutline([]byte(text), all)
		var tree any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		valid := json.Valid([]byte(text)) && dec.Decode(&tree) == nil
		if o.broken == valid {
			t.Fatalf("%q: broken is %v", text, o.broken)
		}
		if !valid || strings.Count(text, "http") >= maxLinks {
			return
		}
		found := make(map[string]string)
		var walk func(v any, at string)
		walk = func(v any, at string) {
			switch v := v.(type) {
			case map[string]any:
				for key, value := range v {
					walk(value, at+"/"+pointerEscapes.Replace(key))
				}
			case []any:
				for i, value := range v {
					walk(value, fmt.Sprintf("%s/%d", at, i))
				}
			case string:
				if isLink(v) {
					found[at] = v
				}
			}
		}
		walk(tree, "")
		got := make(map[string]string)
		for _, l := range o.links {
			if strings.HasSuffix(l.pointer, "/…") {
				return
			}
			got[l.pointer] = l.url // of duplicate keys, the last one counts, as in the tree
		}
		for at, url := range found {
			if got[at] != url {
				t.Errorf("%q: %q at %s, want %q", text, got[at], at, url)
			}
		}
	})
}
