package cli

import (
	"fmt"
	"io"
	"strings"

	"signpost/client"
	"signpost/internal/spell"
)

// statuses lists the statuses of results, as the summary counts them.
var statuses = []client.Status{client.Passed, client.Failed, client.Warned, client.Skipped}

var statusColours = map[client.Status]string{client.Passed: green, client.Failed: red, client.Warned: yellow, client.Skipped: "2"}

// printReport writes results for people, one per line with the hint below.
func printReport(w io.Writer, report client.Report) {
	p := paletteOf(w)
	for _, r := range report.Results {
		status := p.wrap(statusColours[r.Status], fmt.Sprintf("%-7s", r.Status))
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
	counts := make(map[client.Status]int)
	for _, r := range report.Results {
		counts[r.Status]++
	}
	var parts []string
	for _, status := range statuses {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
	}
	if report.Ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored", report.Ignored))
	}
	return spell.Count(len(report.Results), "result") + ": " + strings.Join(parts, ", ")
}
