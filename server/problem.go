package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// problem is an error response (RFC 9457), written beforehand: nothing of a request can be in it.
type problem struct {
	status  int
	body    []byte
	length  []string // as a header value
	refused string   // why a host was refused, if that is the problem
}

// Everything that can go wrong, and its status. The one that is missing is newNotFound, which lists routes.
var (
	badHost = newProblem(http.StatusBadRequest,
		"The host of this request is not a host name or an IP address. "+
			"Send the name that the service is reached by, such as feeds.example.com; an IPv6 address goes in brackets.").refusing(RefusedMalformed)
	badForwarded = newProblem(http.StatusBadRequest,
		"The Forwarded or X-Forwarded-Host header is malformed, or names different hosts. "+
			"Configure the proxy to replace what clients send in it with the one host that they asked for.").refusing(RefusedForwarded)
	bodyTooLarge = newProblem(http.StatusRequestEntityTooLarge,
		"A manifest is asked for without a body. Leave the body out.")
	methodNotAllowed = newProblem(http.StatusMethodNotAllowed,
		"A manifest can only be read. Use GET or HEAD.")
	hostNotAllowed = newProblem(http.StatusMisdirectedRequest,
		"This service does not answer for the host of this request. "+
			"Use the host that the manifest is published under, or add this one to the allowed hosts of the service.").refusing(RefusedNotAllowed)
	internalError = newProblem(http.StatusInternalServerError,
		"The manifest could not be written for this host. Report it to those who run the service.")
)

var (
	noStore     = []string{"no-store"}
	problemType = []string{"application/problem+json"}
)

// maxListed bounds the manifests listed in a 404: enough to find a misspelt one, few enough to read.
const maxListed = 20

func newNotFound(paths []string) *problem {
	detail := `This is not the address of a manifest. Use one of those in "manifests".`
	switch more := len(paths) - maxListed; {
	case len(paths) == 0:
		detail = "No manifest is published here. Publish a service, then use {base_path}/v1/endpoints-manifest."
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
		panic(err) // strings and numbers always marshal
	}
	body = append(body, '\n')
	return &problem{status: status, body: body, length: []string{strconv.Itoa(len(body))}}
}

// refusing says why a host is refused with the problem.
func (p *problem) refusing(why string) *problem {
	p.refused = why
	return p
}

// write answers with the problem, and notes that in the event.
func (p *problem) write(w http.ResponseWriter, r *http.Request, event Event) Event {
	header := w.Header()
	header["Cache-Control"] = noStore
	header["Content-Type"] = problemType
	header["Content-Length"] = p.length
	w.WriteHeader(p.status)
	event.Status = p.status
	event.Refused = p.refused
	if r.Method != http.MethodHead {
		event.Bytes, _ = w.Write(p.body)
	}
	return event
}
