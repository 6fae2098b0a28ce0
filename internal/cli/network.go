package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"signpost/internal/source"
)

// network holds how a command reaches other machines.
type network struct {
	transport http.RoundTripper // nil means the default
	plainHTTP bool
}

// addNetworkFlags adds --ca-file and --plain-http to the commands that use sources in registries.
func (c *CLI) addNetworkFlags(commands ...*cobra.Command) {
	for _, cmd := range commands {
		if cmd.Flags().Lookup("ca-file") == nil {
			cmd.Flags().String("ca-file", "", "PEM file of additional certificate authorities to trust")
		}
		cmd.Flags().BoolVar(&c.network.plainHTTP, "plain-http", false, "use plain http for oci:// registries; only for registries on this machine")
	}
}

// openNetwork reads the --ca-file, if the command has the flag.
func (c *CLI) openNetwork(cmd *cobra.Command) error {
	f := cmd.Flags().Lookup("ca-file")
	if f == nil || f.Value.String() == "" {
		return nil
	}
	transport, err := trustingTransport(f.Name, f.Value.String())
	if err != nil {
		return &exitError{exitFailure, err}
	}
	c.network.transport = transport
	return nil
}

// registry returns how the command reaches OCI registries.
func (c *CLI) registry() source.Registry {
	return source.Registry{Transport: c.network.transport, PlainHTTP: c.network.plainHTTP, UserAgent: userAgent()}
}

// userAgent returns the User-Agent header of requests.
func userAgent() string { return "signpost/" + buildVersion() }

// trustingTransport returns the default transport, which also trusts the authorities in the file of a flag.
func trustingTransport(flag, caFile string) (http.RoundTripper, error) {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read --%s: %w", flag, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read --%s: %q holds no certificate in PEM form", flag, caFile)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return transport, nil
}
