package cli

import (
	"fmt"
	"io"
	"strings"

	"signpost/client"
)

// checkStatuses lists the statuses of results and their colours.
var checkStatuses = []struct {
	status client.Status
	colour string
}{{client.Passed, "32"}, {client.Failed, "31"}, {client.Warned, "33"}, {client.Skipped, "2"}}

// printReport writes results for people, one per line with the hint below.
func printReport(w io.Writer, p palette, report client.Report) error {
	const statusWidth, checkWidth = len("skipped"), len("certificate")
	var out strings.Builder
	for _, r := range report.Results {
		status := fmt.Sprintf("%-*s", statusWidth, r.Status)
		for _, s := range checkStatuses {
			if s.status == r.Status {
				status = p.wrap(s.colour, status)
			}
		}
		message := r.Message
		if r.Endpoint != "" && !strings.Contains(message, r.Endpoint) {
			message = r.Endpoint + ": " + message
		}
		fmt.Fprintf(&out, "%s  %-*s  %s\n", status, checkWidth, r.Check, printable(message))
		label := "= hint:"
		for line := range strings.SplitSeq(r.Hint, "\n") {
			if line != "" {
				fmt.Fprintf(&out, "%*s %s %s\n", statusWidth, "", p.dim(label), printable(line))
			}
			label = "       "
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// reportSummary counts the results by status.
func reportSummary(report client.Report) string {
	var parts []string
	for _, s := range checkStatuses {
		n := 0
		for _, r := range report.Results {
			if r.Status == s.status {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, s.status))
	}
	if report.Ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored", report.Ignored))
	}
	return plural(len(report.Results), "result") + ": " + strings.Join(parts, ", ")
}
