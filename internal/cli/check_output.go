package cli

import (
	"fmt"
	"io"
	"strings"

	"signpost/client"
	"signpost/internal/spell"
)

// checkStatuses lists the statuses of results and their colours.
var checkStatuses = []struct {
	status client.Status
	colour string
}{{client.Passed, green}, {client.Failed, red}, {client.Warned, yellow}, {client.Skipped, "2"}}

// printReport writes results for people, one per line with the hint below.
func printReport(w io.Writer, report client.Report) {
	p := paletteOf(w)
	const statusWidth = len("skipped")
	for _, r := range report.Results {
		var status safe
		for _, s := range checkStatuses {
			if s.status == r.Status {
				status = p.wrap(s.colour, fmt.Sprintf("%-*s", statusWidth, r.Status))
			}
		}
		message := r.Message
		if r.Endpoint != "" && !strings.Contains(message, `"`+r.Endpoint+`"`) {
			message = r.Endpoint + ": " + message
		}
		printf(w, "%s  %-11s  %s\n", status, r.Check, message)
		label := "= hint:"
		for line := range strings.SplitSeq(r.Hint, "\n") {
			if line != "" {
				printf(w, "%7s %s %s\n", "", p.dim(label), line)
			}
			label = "       "
		}
	}
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
	return spell.Count(len(report.Results), "result") + ": " + strings.Join(parts, ", ")
}
