package cli

import (
	"fmt"
	"net/url"
	"strings"

	"signpost/client"
)

// withFlags adds the flags of check or serve that help to the hint of a result.
func withFlags(r client.Result, address *url.URL) client.Result {
	flags := map[string][]string{ // by cause
		"plain-http":        {"signpost serve --tls-cert, --tls-key or --acme-domain"},
		"timeout":           {"--timeout"},
		"unknown-authority": {"--ca-file makes this check trust an authority of your own, but not the studio"},
		"host-not-allowed":  {"signpost serve --allowed-host " + address.Hostname()},
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
	case r.Cause == "wrong-host":
		r.Hint = hostRemedies(address.Hostname())
	case r.Cause == "not-called":
		r.Message += " because of --probe=false"
	case r.Hint != "" && len(flags) > 0:
		r.Hint += " (" + strings.Join(flags, ", ") + ")"
	}
	return r
}

// hostRemedies lists ways to pass the requested host to the service. Caddy does so by default.
func hostRemedies(host string) string {
	return strings.Join([]string{
		"the service does not see the host that it is called by. If a reverse proxy is in front of it, one of these helps:",
		"nginx, next to proxy_pass:     proxy_set_header Host $host;",
		"Caddy, inside reverse_proxy:   header_up Host {host}",
		"a proxy that sends X-Forwarded-Host instead:   signpost serve --trusted-proxy ADDRESS-RANGE-OF-THE-PROXY",
		"  (the proxy must strip the Forwarded and X-Forwarded-Host headers that clients send)",
		fmt.Sprintf("a service with a single host:   signpost serve --public-host %s", host),
	}, "\n")
}
