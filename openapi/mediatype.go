package openapi

import (
	"cmp"
	"mime"
	"slices"
	"strings"

	"signpost"
)

// mimeType returns the content type that an operation returns or, for a form, accepts.
func (im *importer) mimeType(op *operation) string {
	if body := op.node.get("requestBody"); body != nil {
		op.note(body, "the request body is left out: modifiers are query parameters")
		if op.method == signpost.MethodPost && im.mediaTypes(op, body).form {
			return signpost.MIMEForm
		}
	}
	best := im.mediaTypes(op, im.success(im.follow(op.node.get("responses")))).best
	concrete := typicalTypes[best]
	switch {
	case concrete != "":
		op.note(op.node, "content type %q is imported as %s: a manifest needs a single type", best, concrete)
		return concrete
	case best != "":
		return best
	case im.opts.MIMEType != "":
		return im.opts.MIMEType
	}
	op.note(op.node, "no response content type is declared; using %s (set another with --mime-type)", signpost.MIMEJSON)
	return signpost.MIMEJSON
}

// typicalTypes maps ranges to the type that usually stands for them. Nothing is known about */*.
var typicalTypes = map[string]string{
	"image/*":       "image/jpeg",
	"audio/*":       "audio/mpeg",
	"video/*":       "video/mp4",
	"text/*":        "text/plain",
	"application/*": signpost.MIMEJSON,
}

// mediaRank sorts content types: JSON first, ranges last.
func mediaRank(t string) int {
	switch {
	case t == signpost.MIMEJSON:
		return 0
	case strings.Contains(t, "*"):
		return 3
	case strings.HasSuffix(t, "+json"):
		return 1
	}
	return 2
}

// success returns the response to a successful request.
func (im *importer) success(responses *node) *node {
	response, known := im.successes[responses]
	if !known {
		response = responses.get(successCode(responses.names()))
		im.successes[responses] = response
	}
	return response
}

// successCode returns the status code of success: 200, another 2xx code, 2XX, or default.
func successCode(codes []string) string {
	codes = slices.DeleteFunc(slices.Sorted(slices.Values(codes)), func(code string) bool { return code == "default" })
	for _, prefix := range []string{"200", "20", "2"} { // digits sort before XX
		if i := slices.IndexFunc(codes, func(code string) bool { return strings.HasPrefix(code, prefix) }); i >= 0 {
			return codes[i]
		}
	}
	return "default"
}

// mediaTypes summarizes the content types of a response or a request body.
type mediaTypes struct {
	best string // without parameters; empty if there is none
	form bool   // a form is among them
	err  error
}

// mediaTypes reads the content types of a response or a request body. The result is cached, because operations may
// share it.
func (im *importer) mediaTypes(op *operation, n *node) mediaTypes {
	m, known := im.media[n]
	if !known {
		var target *node
		target, m.err = im.deref(n)
		for _, name := range im.follow(target.get("content")).names() {
			t, _, err := mime.ParseMediaType(name)
			switch {
			case err != nil || !strings.Contains(t, "/") || strings.Contains(t, "*") && typicalTypes[t] == "":
			case t == signpost.MIMEForm: // describes how a request is sent, not what is returned
				m.form = true
			case m.best == "" || cmp.Or(mediaRank(t)-mediaRank(m.best), strings.Compare(t, m.best)) < 0:
				m.best = t
			}
		}
		im.media[n] = m
	}
	if m.err != nil {
		op.note(n, "%v", m.err)
	}
	return m
}
