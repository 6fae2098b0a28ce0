package source

import (
	"reflect"
	"strings"
	"testing"
)

// TestAtRest reads texts while they are being written.
func TestAtRest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		last  string
		reads string // one after the other; the last one again and again
		want  string
		times int
	}{
		{"old", "old", "old", 1},
		{"old", "new", "new", 2},
		{"", "new", "new", 2},
		{"", "", "", 1},
		{"old", "ned new", "new", 3}, // part old, part new
		{"old", "n ne new", "new", 4},
		{"old", "new old", "old", 3},
		{"old", "1 2 3 4 5 6 7 8 9 0", "old", 10}, // it does not come to rest
	} {
		texts := func(s string) []Document {
			if s == "" {
				return nil
			}
			return []Document{{Name: "feeds.yaml", Text: []byte(s)}}
		}
		reads, times := strings.Split(test.reads, " "), 0
		got, err := atRest(texts(test.last), func() ([]Document, error) {
			times++
			return texts(reads[min(times, len(reads))-1]), nil
		})
		if !reflect.DeepEqual(got, texts(test.want)) || times != test.times || (err != nil) != (test.times == 10) {
			t.Errorf("%q after %q: %q after %d reads, %v", test.reads, test.last, got, times, err)
		}
	}
}
