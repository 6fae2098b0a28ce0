package cli

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"signpost/client"
)

// The elements of JUnit XML, following its strictest schema, that of Ant: testsuites has no attributes, and a suite
// always has properties and output, even if empty. Jenkins, GitLab and others accept that.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string       `xml:"name,attr"`
		Package    string       `xml:"package,attr"`
		ID         int          `xml:"id,attr"`
		Timestamp  string       `xml:"timestamp,attr"` // without a time zone
		Hostname   string       `xml:"hostname,attr"`
		Tests      int          `xml:"tests,attr"`
		Failures   int          `xml:"failures,attr"`
		Errors     int          `xml:"errors,attr"`
		Skipped    int          `xml:"skipped,attr"`
		Time       string       `xml:"time,attr"`
		Properties struct{}     `xml:"properties"`
		Cases      []*junitCase `xml:"testcase"`
		SystemOut  junitText    `xml:"system-out"`
		SystemErr  junitText    `xml:"system-err"`
	}
	junitCase struct {
		Name      string     `xml:"name,attr"`
		ClassName string     `xml:"classname,attr"`
		Time      int        `xml:"time,attr"`
		Failure   *junitText `xml:"failure"`
		Skipped   *junitText `xml:"skipped"`
	}
	junitText struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// printJUnit writes results for CI servers: a test case for each check and, for checks of endpoints, for each endpoint.
// Warnings pass; they are in the output of the suite.
func printJUnit(w io.Writer, report client.Report, began time.Time) {
	hostname, _ := os.Hostname()
	suite := junitSuite{
		Name:      "signpost check " + printable(report.Address),
		Package:   "signpost",
		Hostname:  cmp.Or(printable(hostname), "localhost"),
		Timestamp: began.UTC().Format("2006-01-02T15:04:05"),
		Time:      fmt.Sprintf("%.3f", time.Since(began).Seconds()),
	}
	cases := make(map[[2]string]*junitCase)
	for _, r := range report.Results {
		key := [2]string{r.Check, r.Endpoint}
		c := cases[key]
		if c == nil {
			c = &junitCase{Name: strings.TrimSuffix(r.Check+" "+printable(r.Endpoint), " "), ClassName: "signpost." + r.Check}
			c.Skipped = &junitText{Message: printable(r.Message)} // unless a result follows that is not skipped
			cases[key], suite.Cases = c, append(suite.Cases, c)
		}
		if r.Status != client.Skipped {
			c.Skipped = nil
		}
		switch {
		case r.Status == client.Warned:
			suite.SystemOut.Text += fmt.Sprintf("warned: %s: %s", c.Name, describe(r))
		case r.Status == client.Failed && c.Failure == nil:
			c.Failure = &junitText{Message: printable(r.Message), Type: r.Check, Text: describe(r)}
			suite.Failures++
		case r.Status == client.Failed:
			c.Failure.Text += describe(r)
		}
	}
	for _, c := range suite.Cases {
		if c.Skipped != nil {
			suite.Skipped++
		}
	}
	suite.Tests = len(suite.Cases)
	document, _ := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ") // of strings and numbers, which cannot fail
	// A stream escapes a character that is split between two writes, as those of an encoder may.
	io.WriteString(w, xml.Header+string(document)+"\n") // stdout remembers a failed write
}

// describe formats a result as text.
func describe(r client.Result) string {
	text := printable(r.Message) + "\n"
	for line := range strings.SplitSeq(r.Hint, "\n") {
		if line != "" {
			text += "  hint: " + printable(line) + "\n"
		}
	}
	return text
}
