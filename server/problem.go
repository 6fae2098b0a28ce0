package server

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// problem is a prepared error response (RFC 9457). Nothing from the request goes into it.
type problem struct {
	status  int
	body    []byte
	more    []field // additional header fields
	refused string  // why a host was rejected, if that is the problem
}

// Problems that do not depend on what is published. For the one that does, see newNotFound.
var (
	badHost = newProblem(http.StatusBadRequest,
		"The host of this request is not a host name or an IP address. "+
			"Send the name that the service is reached by, such as feeds.example.com; an IPv6 address goes in brackets.").refusing(RefusedMalformed)
	badForwarded = newProblem(http.StatusBadRequest,
		"The Forwarded or X-Forwarded-Host header is malformed, or names different hosts. "+
			"Configure the proxy to replace what clients send in it with the one host that they asked for.").refusing(RefusedForwarded)
	bodyTooLarge = newProblem(http.StatusRequestEntityTooLarge,
		"A request for a manifest has no body. Send it without one.")
	methodNotAllowed = newProblem(http.StatusMethodNotAllowed,
		"Manifests are read-only. Use GET or HEAD.").with(allow)
	hostNotAllowed = newProblem(http.StatusMisdirectedRequest,
		"This service does not answer for the host of this request. "+
			"Use the host that the manifest is published under, or add this one to the allowed hosts of the service.").refusing(RefusedNotAllowed)
	hostDoesNotFit = newProblem(http.StatusMisdirectedRequest,
		"This manifest has URLs in which the host of the request is only a part of a name, such as media.{{host}}. "+
			"Use the host name that the manifest is published under; an IP address cannot be a part of a name.").refusing(RefusedDoesNotFit)
	internalError = newProblem(http.StatusInternalServerError,
		"The manifest could not be written for this host. Report this to the operator of the service.")
	busy = newProblem(http.StatusServiceUnavailable,
		"Too many requests in progress. Retry in 2 seconds.").with(retrySoon)

	problems = []*problem{badHost, badForwarded, bodyTooLarge, methodNotAllowed, hostNotAllowed, hostDoesNotFit, internalError, busy}
)

// Seconds after which clients should retry: for the first manifest, about the polling interval of sources; for a burst,
// about its length.
var (
	retryAfter = newField("Retry-After", "10")
	retrySoon  = newField("Retry-After", "2")
)

// maxListed limits the manifests listed in a 404: enough to find a misspelt path, few enough to read.
const maxListed = 20

func newNotFound(paths []string) *problem {
	detail := `This is not the address of a manifest. Use one of those in "manifests".`
	switch more := len(paths) - maxListed; {
	case len(paths) == 0:
		return newProblem(http.StatusServiceUnavailable,
			"No manifest has been published here yet. Try again when the service has read its definition.").with(retryAfter)
	case more > 0:
		detail += fmt.Sprintf(" %d more are not listed.", more)
		paths = paths[:maxListed]
	}
	return newProblem(http.StatusNotFound, detail, paths...)
}

func newProblem(status int, detail string, manifests ...string) *problem {
	body, err := json.Marshal(struct {
		Type      string   `json:"type"`
		Title     string   `json:"title"`
		Status    int      `json:"status"`
		Detail    string   `json:"detail"`
		Manifests []string `json:"manifests,omitempty"`
	}{"about:blank", http.StatusText(status), status, detail, manifests})
	if err != nil {
		panic(err) // cannot happen: strings and numbers always marshal
	}
	return &problem{status: status, body: append(body, '\n')}
}

// refusing sets the reason why a host is rejected with this problem.
func (p *problem) refusing(why string) *problem {
	p.refused = why
	return p
}

// with adds header fields.
func (p *problem) with(fields ...field) *problem {
	p.more = append(p.more, fields...)
	return p
}

// response returns the complete response, starting with the common fields.
func (p *problem) response(common head) *response {
	return newResponse(p.status, common.with(p.more...).with(noStore, problemType), p.body)
}
