package cli

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"signpost/client"
	"signpost/internal/spell"
)

// statuses lists the statuses of results, as the summary counts them.
var statuses = []client.Status{client.Passed, client.Failed, client.Warned, client.Skipped}

var statusColours = map[client.Status]string{
	client.Passed: green, client.Failed: red, client.Warned: yellow, client.Skipped: "2",
}

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

// withFlags adds the flags of check or serve that help to the hint of a result.
func withFlags(r client.Result, address *url.URL) client.Result {
	flags := map[string][]string{ // by cause
		"plain-http":        {"signpost serve --tls-cert, --tls-key or --acme-domain"},
		"timeout":           {"--timeout"},
		"unknown-authority": {"--ca-file makes this check trust an authority of your own, but not the studio"},
		"host-not-allowed":  {"hosts in the definition, or signpost serve --allowed-host " + address.Hostname()},
		"not-found":         {"feed in --values"},
		"port-dropped":      {"--send-to " + address.Scheme + "://" + address.Host},
		"no-endpoint":       {"--registered, if another service in the studio has one"},
		"not-followed":      {"--follow"},
	}[r.Cause]
	for _, name := range r.Params {
		flags = append(flags, "--param "+name+"=VALUE")
	}
	for _, key := range r.ContextKeys {
		flags = append(flags, "--context "+key+"=VALUE")
	}
	switch {
	case r.Cause == "wrong-host" || r.Cause == "host-replaced":
		r.Hint += hostRemedies + address.Hostname()
	case r.Cause == "not-called":
		r.Message += " because of --probe=false"
	case r.Hint != "" && len(flags) > 0:
		r.Hint += " (" + strings.Join(flags, ", ") + ")"
	}
	return r
}

// hostRemedies lists ways to pass the requested host to the service, and ends with a flag for that host. Caddy does so
// by default.
const hostRemedies = `. One of these helps:
nginx, next to proxy_pass:     proxy_set_header Host $host;
  (a location with a proxy_set_header of its own inherits none)
Caddy, inside reverse_proxy:   header_up Host {host}
a proxy that sends X-Forwarded-Host instead:   signpost serve --trusted-proxy ADDRESS-RANGE-OF-THE-PROXY
  (the proxy must strip the Forwarded and X-Forwarded-Host headers that clients send)
a service with a single host, or started with another one:   signpost serve --public-host `
