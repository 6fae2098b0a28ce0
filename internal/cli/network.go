package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"signpost/client"
	"signpost/internal/readfile"
	"signpost/internal/source"
)

// network is how a command reaches other machines.
type network struct {
	transport *http.Transport
}

const caFileFlag = "ca-file"

// maxCAFile is the maximum size of the --ca-file in bytes: several times that of all public authorities.
const maxCAFile = 4 << 20

// addNetworkFlags adds the flags of every command that reads sources or makes requests: without them, it has no
// [CLI.network].
func addNetworkFlags(cmd *cobra.Command) {
	cmd.Flags().String(caFileFlag, "", "PEM file of additional certificate authorities to trust")
}

// openNetwork sets up the network of a command from its flags.
func (c *CLI) openNetwork(cmd *cobra.Command) error {
	f := cmd.Flags().Lookup(caFileFlag)
	if f == nil {
		return nil
	}
	c.network = &network{transport: http.DefaultTransport.(*http.Transport).Clone()}
	path := f.Value.String()
	if path == "" {
		return nil
	}
	pem, err := readfile.Limit(path, maxCAFile)
	if err != nil {
		return &exitError{code: exitFailure, err: fmt.Errorf("read --%s: %w", f.Name, err)}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return &exitError{code: exitFailure, err: fmt.Errorf("read --%s: %q holds no certificate in PEM form", f.Name, path)}
	}
	c.network.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return nil
}

// reader returns the reader for the sources of a command.
func (c *CLI) reader() *source.Reader {
	return &source.Reader{
		Stdin: c.Stdin, Client: client.Options{Transport: c.network.transport}, Registry: c.registry(),
		Note: func(message string) { printf(c.Stderr, "%s\n", message) },
	}
}

// registry returns how the command reaches OCI registries.
func (c *CLI) registry() source.Registry {
	return source.Registry{Transport: c.network.transport, UserAgent: userAgent()}
}

// userAgent returns the User-Agent header of requests.
func userAgent() string { return "signpost/" + buildVersion() }
