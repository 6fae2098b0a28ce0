package cli

import (
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
		Name       string      `xml:"name,attr"`
		Package    string      `xml:"package,attr"`
		ID         int         `xml:"id,attr"`
		Timestamp  string      `xml:"timestamp,attr"` // without a time zone
		Hostname   string      `xml:"hostname,attr"`
		Tests      int         `xml:"tests,attr"`
		Failures   int         `xml:"failures,attr"`
		Errors     int         `xml:"errors,attr"`
		Skipped    int         `xml:"skipped,attr"`
		Time       string      `xml:"time,attr"`
		Properties struct{}    `xml:"properties"`
		Cases      []junitCase `xml:"testcase"`
		SystemOut  junitOutput `xml:"system-out"`
		SystemErr  junitOutput `xml:"system-err"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitFailure `xml:"failure"`
		Skipped   *junitSkipped `xml:"skipped"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
	junitOutput struct {
		Text string `xml:",cdata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// printJUnit writes results for CI servers: a test case for each check and, for checks of endpoints, for each endpoint.
// Warnings pass; they are in the output of the suite.
func printJUnit(w io.Writer, report client.Report, began time.Time) {
	hostname, err := os.Hostname()
	if err != nil || hostname == "" {
		hostname = "localhost"
	}
	suite := junitSuite{
		Name: "signpost check " + printable(report.Address), Package: "signpost", Hostname: printable(hostname),
		Timestamp: began.UTC().Format("2006-01-02T15:04:05"), Time: fmt.Sprintf("%.3f", time.Since(began).Seconds()),
	}
	groups := make(map[[2]string][]client.Result)
	var order [][2]string
	for _, r := range report.Results {
		key := [2]string{r.Check, r.Endpoint}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	var warnings strings.Builder
	for _, key := range order {
		c := junitResults(key[0], key[1], groups[key])
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Skipped != nil:
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
		for _, r := range groups[key] {
			if r.Status == client.Warned {
				fmt.Fprintf(&warnings, "warned: %s: %s", c.Name, junitText(r))
			}
		}
	}
	suite.Tests, suite.SystemOut.Text = len(suite.Cases), warnings.String()
	io.WriteString(w, xml.Header) // stdout remembers a failed write
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	enc.Encode(junitSuites{Suite: suite})
	io.WriteString(w, "\n")
}

// junitResults returns the test case for the results of a check about an endpoint.
func junitResults(check, endpoint string, results []client.Result) junitCase {
	c := junitCase{Name: check, ClassName: "signpost." + check, Time: "0"}
	if endpoint != "" {
		c.Name += " " + printable(endpoint)
	}
	skipped := 0
	for _, r := range results {
		switch {
		case r.Status == client.Skipped:
			skipped++
		case r.Status == client.Failed && c.Failure == nil:
			c.Failure = &junitFailure{Message: printable(r.Message), Type: check, Text: junitText(r)}
		case r.Status == client.Failed:
			c.Failure.Text += junitText(r)
		}
	}
	if skipped == len(results) {
		c.Skipped = &junitSkipped{printable(results[0].Message)}
	}
	return c
}

// junitText formats a result as text.
func junitText(r client.Result) string {
	text := printable(r.Message) + "\n"
	for line := range strings.SplitSeq(r.Hint, "\n") {
		if line != "" {
			text += "  hint: " + printable(line) + "\n"
		}
	}
	return text
}
