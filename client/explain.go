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
)

// Values of Result.Cause and Problem.Cause: reasons for which a caller may have an option. Other results have none.
const (
	causeTimeout          = "timeout"           // no complete response within Options.Timeout
	causeCanceled         = "canceled"          // the context was canceled
	causeUnknownAuthority = "unknown-authority" // the certificate's authority is not trusted
	causePlainHTTP        = "plain-http"        // the address is not https
	causeHostNotAllowed   = "host-not-allowed"  // the service does not answer for the host of the address
	causeHostReplaced     = "host-replaced"     // another host arrived at the service
	causeBasePath         = "base-path"         // a prefix of the path is lost on the way to the service
	causeWrongHost        = "wrong-host"        // the manifest's URLs do not carry the host of the address
	causeMissingValues    = "missing-values"    // Result.Params and Result.ContextKeys have no value
	causeOptionalValues   = "optional-values"   // the service rejects a request without the optional Result.ContextKeys
	causeNotFound         = "not-found"         // Result.Params, or the URL itself, may be wrong
	causeNotCalled        = "not-called"        // CheckOptions.SkipProbes
	causeNotFollowed      = "not-followed"      // CheckOptions.Follow is too low for all links
	causeNoEndpoint       = "no-endpoint"       // a link has no endpoint; CheckOptions.Registered may lack one
	causePortDropped      = "port-dropped"      // the address has a port, and the endpoint's URL has none
)

// Problem explains why there is no complete response to a request.
type Problem struct {
	Cause   string // as in Result
	Message string
	Hint    string // what to do about it
	TLS     bool   // a server responds, but the connection is not secure
}

// Explain explains an error of [Fetch] or [Send].
func Explain(err error) Problem {
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		dns     *net.DNSError
		op      *net.OpError
		timed   net.Error
		status  *StatusError
		coding  *encodingError
		request = &requestError{} // stays zero for other kinds of errors
	)
	errors.As(err, &request)
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	switch {
	case err == nil:
		return Problem{}
	case errors.As(err, &status):
		return status.problem()
	case errors.As(err, &coding):
		return Problem{Message: coding.message, Hint: coding.hint}
	case errors.As(err, &verify):
		return explainCertificate(verify.Err)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return Problem{TLS: true, Message: "the server does not speak TLS on this port",
			Hint: "find out whether https is on another port, or not set up yet"}
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert
		return Problem{TLS: true, Message: fmt.Sprintf("the server aborts the TLS handshake: %v", op.Err),
			Hint: "make sure that it has a certificate for this host " + siteHint + ", and speaks TLS 1.2 or newer"}
	case errors.Is(err, context.Canceled):
		return Problem{Cause: causeCanceled, Message: "the request was canceled", Hint: "run it again"}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		message := "no response in time" // because of a limit of the transport
		if errors.Is(err, context.DeadlineExceeded) && request.timeout > 0 {
			message = fmt.Sprintf("no response within %v", request.timeout)
			if request.begun {
				message = fmt.Sprintf("the response did not end within %v", request.timeout)
			}
		}
		return Problem{Cause: causeTimeout, Message: message, Hint: "find out why it takes so long, or allow more time"}
	case errors.As(err, &dns):
		return Problem{Message: fmt.Sprintf("cannot resolve the host %q: %s", dns.Name, dns.Err),
			Hint: "correct the host, or its DNS record"}
	case errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &op) && op.Addr != nil:
		return Problem{Message: fmt.Sprintf("nothing listens at %s", op.Addr),
			Hint: "start the service, or correct host and port"}
	case errors.Is(err, io.ErrUnexpectedEOF), request.begun && closed,
		strings.Contains(err.Error(), "stream error"): // of HTTP/2, which has no type for it
		return Problem{Message: "the response is cut off", Hint: cutOffHint}
	case closed:
		return Problem{Message: "the connection was closed without a response",
			Hint: "look at the log of the service and of a proxy in front of it"}
	}
	p := Problem{Message: err.Error(), Hint: "check that the address is right, and what answers there"}
	if request.err != nil {
		p.Message = fmt.Sprintf("the request failed: %v", request.err)
	}
	return p
}

const (
	cutOffHint = "look at the service's log, and at the limits of a proxy in front of it"
	siteHint   = "(nginx: server_name; Caddy: the address of the site)"
)

// explainCertificate explains why a certificate is not valid.
func explainCertificate(err error) Problem {
	p := Problem{TLS: true, Message: "the certificate is not trusted: " + strings.TrimPrefix(err.Error(), "x509: ")}
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		p.Cause, p.Message = causeUnknownAuthority, "the certificate is from an authority that clients do not trust"
		if c := unknown.Cert; c != nil && c.Issuer.String() == c.Subject.String() {
			p.Message = "the certificate is self-signed; clients will not trust it"
		}
		p.Hint = "get a certificate from an authority that clients trust, " +
			"and make the server send the whole chain, with the intermediate certificates"
	case errors.As(err, new(x509.HostnameError)):
		p.Hint = "get a certificate for this name, or make the server choose it " + siteHint
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		p.Hint = "renew it, make the server load the new one, and check the clocks"
	default:
		p.Hint = "get another certificate, from an authority that clients trust"
	}
	return p
}
