package server

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// problem is an error response (RFC 9457). Nothing from the request goes into it.
type problem struct {
	status    int
	detail    string
	manifests []string // that exist
	fields    []field  // additional header fields
	refused   string   // why a host was rejected, if that is the problem
}

// Problems that do not depend on what is published. For the one that does, see notFound.
var (
	badHost = &problem{status: http.StatusBadRequest, refused: RefusedMalformed,
		detail: "The host of this request is not a host name or an IP address. " +
			"Send the name that the service is reached by, such as feeds.example.com; an IPv6 address goes in brackets."}
	badForwarded = &problem{status: http.StatusBadRequest, refused: RefusedForwarded,
		detail: "The Forwarded or X-Forwarded-Host header is malformed, or names different hosts. " +
			"Configure the proxy to replace what clients send in it with the one host that they asked for."}
	bodyTooLarge = &problem{status: http.StatusRequestEntityTooLarge,
		detail: "A request for a manifest has no body. Send it without one."}
	methodNotAllowed = &problem{status: http.StatusMethodNotAllowed, fields: []field{allow},
		detail: "Manifests are read-only. Use GET or HEAD."}
	hostNotAllowed = &problem{status: http.StatusMisdirectedRequest, refused: RefusedNotAllowed,
		detail: "This service does not answer for the host of this request. " +
			"Use the host that the manifest is published under, or add this one to the allowed hosts of the service."}
	hostDoesNotFit = &problem{status: http.StatusMisdirectedRequest, refused: RefusedDoesNotFit,
		detail: "This manifest has URLs in which the host of the request is only a part of a name, such as media.{{host}}. " +
			"Use the host name that the manifest is published under; an IP address cannot be a part of a name."}
	internalError = &problem{status: http.StatusInternalServerError,
		detail: "The manifest could not be written for this host. Report this to the operator of the service."}
	busy = &problem{status: http.StatusServiceUnavailable, fields: []field{newField("Retry-After", "2")}, // about the length of a burst
		detail: "Too many requests in progress. Retry in 2 seconds."}

	problems = []*problem{badHost, badForwarded, bodyTooLarge, methodNotAllowed, hostNotAllowed, hostDoesNotFit, internalError, busy}
)

// maxListed limits the manifests listed in a 404: enough to find a misspelt path, few enough to read.
const maxListed = 20

// notFound returns the problem of a path at which there is no manifest.
func notFound(paths []string) *problem {
	if len(paths) == 0 {
		return &problem{status: http.StatusServiceUnavailable, fields: []field{newField("Retry-After", "10")}, // about the time between two polls
			detail: "No manifest has been published here yet. Try again when the service has read its definition."}
	}
	p := &problem{status: http.StatusNotFound, manifests: paths, detail: `This is not the address of a manifest. Use one of those in "manifests".`}
	if more := len(paths) - maxListed; more > 0 {
		p.manifests = paths[:maxListed]
		p.detail += fmt.Sprintf(" %d more are not listed.", more)
	}
	return p
}

// response returns the complete response, starting with the common fields.
func (p *problem) response(common head) *response {
	body, _ := json.Marshal(struct { // of strings and numbers, which cannot fail
		Type      string   `json:"type"`
		Title     string   `json:"title"`
		Status    int      `json:"status"`
		Detail    string   `json:"detail"`
		Manifests []string `json:"manifests,omitempty"`
	}{"about:blank", http.StatusText(p.status), p.status, p.detail, p.manifests})
	return newResponse(p.status, common.with(p.fields...), append(body, '\n'), noStore, problemType)
}
