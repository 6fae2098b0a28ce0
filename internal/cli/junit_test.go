package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"signpost/client"
	"signpost/internal/testkit"
)

// TestPrintJUnit compares a report with a golden file that is valid against the schemas of Ant, the strictest, and of
// Jenkins' xUnit plugin: every attribute and element in it is required there, in this order.
func TestPrintJUnit(t *testing.T) {
	t.Parallel()
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
	printJUnit(&out, report, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	varies := regexp.MustCompile(`(hostname|time)="[^" ]+"( tests|>\n    <properties)`)
	testkit.Golden(t, filepath.Join("testdata", "junit.golden"), varies.ReplaceAllString(out.String(), `$1="…"$2`))
}

// TestJUnitCharacters checks that a report of any length keeps its characters: the output escapes what is split in two.
func TestJUnitCharacters(t *testing.T) {
	t.Parallel()
	var report client.Report
	for i := range 1000 {
		endpoint := fmt.Sprintf("https://feeds.example.com/%d", i)
		report.Results = append(report.Results, client.Result{Check: "probe", Status: client.Failed, Endpoint: endpoint, Message: "fünf Übungen"})
	}
	var out bytes.Buffer
	printJUnit(&stream{Writer: &out}, report, time.Now())
	if got := strings.Count(out.String(), "fünf Übungen"); got != 2*len(report.Results) || strings.Contains(out.String(), `\x`) {
		t.Errorf("the message is there %d times, not twice for each of %d results", got, len(report.Results))
	}
}
