package openapi

import (
	"cmp"
	"mime"
	"slices"
	"strings"

	"signpost"
)

// mimeType returns the content type of what an operation returns or, for a form, of what it takes.
func (im *importer) mimeType(op *operation) string {
	if body := op.node.get("requestBody"); body != nil {
		op.note(body, "the request body is left out: modifiers are query parameters")
		if op.method == signpost.MethodPost && slices.Contains(im.mediaTypes(op, body), signpost.MIMEForm) {
			return signpost.MIMEForm
		}
	}
	responses := im.follow(op.node.get("responses"))
	types := im.mediaTypes(op, responses.get(successCode(responses.names())))
	types = slices.DeleteFunc(types, func(t string) bool { return t == signpost.MIMEForm }) // which says how a request is sent
	best := slices.MinFunc(append(types, ""), func(a, b string) int {
		return cmp.Or(mediaRank(a)-mediaRank(b), strings.Compare(a, b))
	})
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

// typicalTypes are the types that stand for a range of them. What */* returns, nobody knows.
var typicalTypes = map[string]string{
	"image/*":       "image/jpeg",
	"audio/*":       "audio/mpeg",
	"video/*":       "video/mp4",
	"text/*":        "text/plain",
	"application/*": signpost.MIMEJSON,
}

// mediaRank sorts content types: JSON first, ranges of types behind the rest, none at all last.
func mediaRank(t string) int {
	switch {
	case t == signpost.MIMEJSON:
		return 0
	case t == "":
		return 4
	case strings.Contains(t, "*"):
		return 3
	case strings.HasSuffix(t, "+json"):
		return 1
	}
	return 2
}

// successCode returns the status code of the response that an operation gives when all is well: 200, or
// another of its kind, or 2XX, or default.
func successCode(codes []string) string {
	codes = slices.DeleteFunc(slices.Sorted(slices.Values(codes)), func(code string) bool { return code == "default" })
	for _, prefix := range []string{"200", "20", "2"} { // digits sort before XX
		if i := slices.IndexFunc(codes, func(code string) bool { return strings.HasPrefix(code, prefix) }); i >= 0 {
			return codes[i]
		}
	}
	return "default"
}

// mediaTypes returns the content types of a response or a request body, without their parameters.
func (im *importer) mediaTypes(op *operation, n *node) []string {
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "%v", err)
	}
	names := im.follow(target.get("content")).names()
	im.work += len(names)
	var types []string
	for _, name := range names {
		t, _, err := mime.ParseMediaType(name)
		if err == nil && strings.Contains(t, "/") && (!strings.Contains(t, "*") || typicalTypes[t] != "") {
			types = append(types, t)
		}
	}
	return types
}
