package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// problem says in words why there is no answer, or not all of it.
type problem struct {
	message string
	cutOff  string // the message where an answer had begun
	hint    string
	tls     bool // somebody answers, but the connection cannot be trusted
	quotes  bool // the message has text in it that the other side sent
}

// explain finds words for the error of a request.
func explain(err error, timeout time.Duration) problem {
	var (
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		unknown  x509.UnknownAuthorityError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		dns      *net.DNSError
		op       *net.OpError
		timed    net.Error
	)
	switch {
	case err == nil:
		return problem{}
	case errors.As(err, &hostname):
		return problem{tls: true, message: fmt.Sprintf("the certificate is for %s, and not for %q", certificateNames(hostname.Certificate), hostname.Host),
			hint: "get a certificate with that name in it"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return problem{tls: true, message: "the certificate is valid from " + invalid.Cert.NotBefore.UTC().Format(time.DateTime) + " UTC only",
			hint: "see whether the clocks are right"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return problem{tls: true, message: "the certificate expired on " + invalid.Cert.NotAfter.UTC().Format(time.DateTime) + " UTC",
			hint: "renew it, and see that the server has loaded the new one"}
	case errors.As(err, &unknown):
		issuer := "nobody"
		if unknown.Cert != nil {
			issuer = fmt.Sprintf("%q", unknown.Cert.Issuer.String())
		}
		return problem{tls: true, message: fmt.Sprintf("the certificate is signed by %s, whom clients do not trust", issuer),
			hint: "let the server send the whole chain, with the intermediate certificates; for an authority of your own, --ca-file makes this check trust it, but not the studio"}
	case errors.As(err, &verify):
		return problem{tls: true, message: fmt.Sprintf("the certificate is not trusted: %v", verify.Err), hint: "get another certificate"}
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return problem{tls: true, message: "the server does not speak TLS on this port", hint: "see whether https has another port, or is not set up yet"}
	case errors.As(err, &op) && op.Op == "remote error": // an alert of TLS
		return problem{tls: true, message: fmt.Sprintf("the server breaks off the TLS handshake: %v", op.Err),
			hint: "see whether it has a certificate for this host, and speaks TLS 1.2 or newer"}
	case errors.Is(err, context.Canceled):
		return problem{message: "the check was stopped", cutOff: "the check was stopped", hint: "run it again"}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return problem{message: fmt.Sprintf("there is no answer within %v", timeout), cutOff: fmt.Sprintf("the answer has not ended within %v", timeout),
			hint: "see why it takes so long, or give it more time with --timeout"}
	case errors.As(err, &dns):
		return problem{message: fmt.Sprintf("the name %q cannot be looked up: %s", dns.Name, dns.Err), hint: "correct the host, or its DNS record"}
	case errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &op) && op.Addr != nil:
		return problem{message: fmt.Sprintf("nothing listens at %s", op.Addr), hint: "start the service, or correct the host and the port"}
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "stream error"): // the latter is HTTP/2's
		const hint = "something cuts answers short: look at the log of the service, and at the limits of what stands in front of it"
		return problem{message: "the answer breaks off", cutOff: "the answer breaks off", hint: hint}
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return problem{message: "the connection was closed without an answer", cutOff: "the connection was closed",
			hint: "the log of the service, or of what stands in front of it, may say why"}
	}
	text := fmt.Sprintf("the request failed: %v", err)
	return problem{message: text, cutOff: text, quotes: true, hint: "see whether the address is right, and what answers there"}
}

// maxNames is how many names a message has of a list that another side sends, such as those of a certificate.
const maxNames = 5

func certificateNames(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) == 0:
		return "no name"
	case len(names) > maxNames:
		return fmt.Sprintf("%q and %d more", names[:maxNames], len(names)-maxNames)
	}
	return fmt.Sprintf("%q", names)
}
