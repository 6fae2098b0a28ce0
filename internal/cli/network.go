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

const caFileFlag = "ca-file"

// maxCAFile is the maximum size of the --ca-file in bytes: several times that of all public authorities.
const maxCAFile = 4 << 20

// addNetworkFlags adds the flags of every command that reads sources or makes requests.
func addNetworkFlags(cmd *cobra.Command) {
	cmd.Flags().String(caFileFlag, "", "PEM file of additional certificate authorities to trust")
}

// openNetwork sets up how a command reaches other machines.
func (c *CLI) openNetwork(cmd *cobra.Command) error {
	c.transport = http.DefaultTransport.(*http.Transport).Clone()
	f := cmd.Flags().Lookup(caFileFlag)
	if f == nil || f.Value.String() == "" {
		return nil
	}
	path := f.Value.String()
	pem, err := readfile.Limit(path, maxCAFile)
	if err != nil {
		return fmt.Errorf("read --%s: %w", f.Name, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("read --%s: %q holds no certificate in PEM form", f.Name, path)
	}
	c.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return nil
}

// reader returns the reader for the sources of a command.
func (c *CLI) reader() *source.Reader {
	return &source.Reader{
		Stdin: c.Stdin, Client: client.Options{Transport: c.transport}, Registry: c.registry(),
		Note: func(message string) { c.reportLines([]string{message}) },
	}
}

// registry returns how the command reaches OCI registries.
func (c *CLI) registry() source.Registry {
	return source.Registry{Transport: c.transport, UserAgent: userAgent()}
}

// userAgent returns the User-Agent header of requests.
func userAgent() string { return "signpost/" + buildVersion() }
