package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"signpost/internal/readfile"
	"signpost/internal/source"
)

// maxFile is the maximum size in bytes of the files that flags name, unless a package that parses one has its own
// limit. A baseline of 100,000 findings has that size, all public authorities and large published schemas have a
// fraction of it.
const maxFile = 32 << 20

// addNetworkFlags adds the flags of every command that reads sources or makes requests.
func (c *CLI) addNetworkFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.caFile, "ca-file", "", "PEM file of additional certificate authorities to trust")
}

// openNetwork sets up how a command reaches other machines.
func (c *CLI) openNetwork() error {
	c.transport = http.DefaultTransport.(*http.Transport).Clone()
	c.transport.TLSHandshakeTimeout = 0 // part of the timeout of each request, which a user may choose
	if c.caFile == "" {
		return nil
	}
	pem, err := readfile.Limit(c.caFile, maxFile)
	if err != nil {
		return fmt.Errorf("read --ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("read --ca-file: %q holds no certificate in PEM form", c.caFile)
	}
	c.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	return nil
}

// reader returns the reader for the sources of a command.
func (c *CLI) reader() *source.Reader {
	return &source.Reader{
		Stdin: c.Stdin, Transport: c.transport, UserAgent: userAgent(),
		Note: func(message string) { c.reportLines([]string{message}) },
	}
}

// userAgent returns the User-Agent header of requests.
func userAgent() string { return "signpost/" + buildVersion() }
