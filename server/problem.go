package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// problem is an error response (RFC 9457).
type problem struct {
	status    int
	detail    string
	manifests []string // that exist
	fields    []field  // additional header fields
	refused   string   // why a host was rejected, if that is the problem: the response then names the host
}

// arrived is what a request looks like to Signpost, so that people and signpost check see what a proxy has changed.
type arrived struct {
	Reason string  `json:"reason,omitempty"` // why the host was rejected: one of the Refused constants
	Host   *string `json:"host,omitempty"`   // as it was taken
	Header string  `json:"header,omitempty"` // from which
	Path   string  `json:"path,omitempty"`
}

// maxShown limits what a response repeats of a request, in bytes. It is longer than a host name.
const maxShown = 300

// shown returns text of a request for a response, in UTF-8.
func shown(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
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
			"Use the host that the manifest is published under, or add this one to the allowed hosts of the service; " +
			"a proxy in front of it must pass on the host that clients ask for."}
	hostDoesNotFit = &problem{status: http.StatusMisdirectedRequest, refused: RefusedDoesNotFit,
		detail: "This manifest has URLs in which the host of the request is only a part of a name, such as media.{{host}}. " +
			"Use the host name that the manifest is published under; an IP address cannot be a part of a name."}
	hostCollides = &problem{status: http.StatusMisdirectedRequest, refused: RefusedCollision,
		detail: "Two URLs of this manifest are the same on the host of this request: " +
			"one of them names it, and the other contains {{host}}. " +
			"Use the host that the manifest is published under, or remove one of the two."}
	internalError = &problem{status: http.StatusInternalServerError,
		detail: "The manifest could not be written for this host. Report this to the operator of the service."}
	busy = &problem{status: http.StatusServiceUnavailable,
		fields: []field{newField("Retry-After", "2")}, // about the length of a burst
		detail: "Too many requests in progress. Retry in 2 seconds."}
)

// maxListed limits the manifests listed in a 404: enough to find a misspelt path, few enough to read.
const maxListed = 20

func notFound(paths []string) *problem {
	if len(paths) == 0 {
		return &problem{status: http.StatusServiceUnavailable,
			fields: []field{newField("Retry-After", "10")}, // about the time between two polls
			detail: "No manifest has been published here yet. Try again when the service has read its definition."}
	}
	p := &problem{status: http.StatusNotFound, manifests: paths,
		detail: `This is not the address of a manifest. Use one of those in "manifests".`}
	if more := len(paths) - maxListed; more > 0 {
		p.manifests = paths[:maxListed]
		p.detail += fmt.Sprintf(" %d more are not listed.", more)
	}
	return p
}

func (p *problem) refusal(common head, from taken) *response {
	host := shown(from.host)
	named := *p
	if from.header != "" {
		named.detail += fmt.Sprintf(" Signpost took the host %q from the header %s.", host, from.header)
	}
	return named.response(common, arrived{Reason: p.refused, Host: &host, Header: from.header})
}

// response returns the complete response, starting with the common fields.
func (p *problem) response(common head, request arrived) *response {
	body, _ := json.Marshal(struct { // of strings and numbers, which cannot fail
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		arrived
		Manifests []string `json:"manifests,omitempty"`
	}{"about:blank", http.StatusText(p.status), p.status, p.detail, request, p.manifests})
	return newResponse(p.status, common.with(p.fields...), append(body, '\n'), noStore, problemType)
}
