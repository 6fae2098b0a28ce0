package openapi

import (
	"cmp"
	"fmt"
	"mime"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// mimeType returns the content type that an operation returns or, for a form, accepts.
func (im *importer) mimeType(op *operation) string {
	if body := get(op.node, "requestBody"); body != nil {
		op.note(keyOf(op.node, "requestBody"), "the request body is left out: modifiers are query parameters")
		if op.method == signpost.MethodPost && im.content(op, body).form {
			return signpost.MIMEForm
		}
	}
	found := im.content(op, success(im.fields(get(op.node, "responses"))))
	if concrete := typicalTypes[found.best]; concrete != "" {
		op.note(op.key, "content type %q is imported as %s: a manifest needs a single type", found.best, concrete)
		return concrete
	}
	if found.best != "" {
		return found.best
	}
	problem := "no response content type is declared"
	if found.unusable != "" {
		problem = fmt.Sprintf("content type %q cannot be used in a manifest", found.unusable)
	}
	if im.opts.MIMEType == "" {
		op.note(op.key, "%s; using %s (set another with --mime-type)", problem, signpost.MIMEJSON)
	}
	return cmp.Or(im.opts.MIMEType, signpost.MIMEJSON)
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

// success returns the response of success: 200, another 2xx code, 2XX, or default, which is also their order as text.
func success(responses []tree.Field) *tree.Node {
	var best tree.Field
	for _, r := range responses {
		code := r.Key.Text
		if (code == "default" || strings.HasPrefix(code, "2")) && (best.Key == nil || code < best.Key.Text) {
			best = r
		}
	}
	return best.Value
}

// content summarizes the content types of a response or a request body.
type content struct {
	best     string // without parameters; empty if there is none
	form     bool   // a form is among them
	unusable string // the first that a manifest cannot have, such as */*
}

func (im *importer) content(op *operation, n *tree.Node) (c content) {
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "%v", err)
	}
	for _, f := range im.fields(get(target, "content")) {
		t, _, err := mime.ParseMediaType(f.Key.Text)
		switch {
		case err != nil || typicalTypes[t] == "" && !validMIMEType(t):
			c.unusable = cmp.Or(c.unusable, short(str(f.Key)))
		case t == signpost.MIMEForm: // describes how a request is sent, not what is returned
			c.form = true
		case c.best == "" || cmp.Or(mediaRank(t)-mediaRank(c.best), strings.Compare(t, c.best)) < 0:
			c.best = t
		}
	}
	return c
}

// validMIMEType reports whether a manifest can have this content type.
func validMIMEType(t string) bool {
	e := signpost.Endpoint{URL: "https://" + signpost.HostPlaceholder + "/", Name: "any", Method: signpost.MethodGet, MIMEType: t}
	return len(signpost.NewManifest(e).Validate()) == 0
}
