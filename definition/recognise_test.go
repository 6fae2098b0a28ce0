package definition

import "testing"

func TestIsDefinition(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"feeds.yaml", "versions: {v1: {endpoints: {}}}\n", true},
		{"feeds.yaml", "service: Feeds\nbase_path: /feeds\n", true},
		{"feeds.yaml", "\ufeffversion:\n  v1: {endpoints: {}}\n", true},
		{"feeds.yaml", "context_keys: {a: b}\n", true},
		{"feeds.yaml", "versions:\n\tv1: {\n", true},
		{"feeds.yaml", "", true},
		{"feeds.yaml", "{versions: {v1: {endpoints: {}}}}\n", true},
		{"feeds.json", `{"versions": {"v1": `, true},
		{"values.yaml", "service: {port: 80}\nfeatures: {}\n", false},
		{"package.json", `{"name": "x", "version": "1.0.0"}`, false},
		{"compose.yaml", "version: '3'\nservices: {}\n", false},
		{"manifest.json", `{"endpoints": {}}`, false},
		{"list.yaml", "- versions: 1\n", false},
	} {
		if got := IsDefinition(test.name, []byte(test.text)); got != test.want {
			t.Errorf("%s %q: %v", test.name, test.text, got)
		}
	}
}

// A file that is something else gets one finding, and no fix.
func TestNotADefinition(t *testing.T) {
	for name, text := range map[string]string{
		"README.md": "# Feeds\n\nUsage:\nfeeds\n\n```yaml\nversions: {}\n```\n", "feeds.bin": "\x00\x01: \xff", "package.json": `{"scripts": {"Method": "GET"}, "modifers": {}}`,
	} {
		fixed := Options{}.Fix(name, []byte(text))
		if findings := Lint(fixed.File); len(findings) != 1 || findings[0].Rule != RuleNotADefinition || string(fixed.Text) != text {
			t.Errorf("%s: %v, %q", name, findings, fixed.Text)
		}
	}
}
