package cli

import (
	"fmt"
	"net/url"
	"strings"

	"signpost/client"
)

// withFlags rewrites the hint of a result for the command line, naming the flag of check or serve that helps.
func withFlags(r client.Result, address *url.URL) client.Result {
	host := address.Hostname()
	var values []string
	for _, name := range r.Params {
		values = append(values, "--param "+name+"=VALUE")
	}
	for _, key := range r.ContextKeys {
		values = append(values, "--context "+key+"=VALUE")
	}
	switch r.Cause {
	case "plain-http":
		r.Hint = "use --tls-cert and --tls-key or --acme-domain of signpost serve, or put a reverse proxy in front that terminates TLS"
	case "timeout":
		r.Hint = "find out why it takes so long, or allow more time with --timeout"
	case "unknown-authority":
		r.Hint += "; for an authority of your own, --ca-file makes this check trust it, but not the studio"
	case "host-not-allowed":
		r.Hint += ": signpost serve --allowed-host " + host
	case "wrong-host":
		r.Hint = hostRemedies(host)
	case "not-called":
		r.Message += " because of --probe=false"
	case "missing-values":
		r.Hint = "try again with " + strings.Join(values, " ")
	case "optional-values":
		r.Hint = "it may need what the manifest declares as optional: try " + strings.Join(values, " ")
	case "not-found":
		r.Hint = "correct the URL in the definition"
		if len(values) > 0 {
			r.Hint += ", or the value of " + strings.Join(values, " ")
		}
		if r.Status == client.Warned {
			r.Hint += "; if the URL is only a prefix of feeds, name one of them as feed of the endpoint in --values"
		}
	case "port-dropped":
		r.Hint = fmt.Sprintf("{{host}} has no port, so this is the default one; to call the endpoint on port %s: --send-to %s://%s", address.Port(), address.Scheme, address.Host)
	case "no-endpoint":
		r.Hint += "; if another service in the studio has one, name that with --registered"
	case "not-followed":
		if r.Status == client.Skipped {
			r.Hint = "follow more links with --follow, or try again with " + strings.Join(values, " ")
		}
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
