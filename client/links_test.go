package client

import "testing"

// Values of at least minSecret characters are hidden. Shorter ones, such as the number of a profile, occur everywhere.
func TestShown(t *testing.T) {
	for value, hidden := range map[string]bool{"abc": false, "abcd": true, "": false} {
		p := probe{sent: map[string]any{"k": value}}
		text := "https://feeds.example.com/" + value + "/x"
		if got := p.shown(text); (got != text) != hidden {
			t.Errorf("%q is sent, and %q is shown", value, got)
		}
	}
}
