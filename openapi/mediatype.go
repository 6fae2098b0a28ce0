package openapi

import (
	"cmp"
	"mime"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// mimeType returns the content type that an operation returns or, for a form, accepts.
func (im *importer) mimeType(op *operation) string {
	if key, body := op.node.Field("requestBody"); body != nil {
		op.note(key, "the request body is left out: modifiers are query parameters")
		if op.method == signpost.MethodPost && slices.Contains(im.contentTypes(op, body), signpost.MIMEForm) {
			return signpost.MIMEForm
		}
	}
	for _, t := range im.contentTypes(op, success(im.fields(get(op.node, "responses")))) {
		if t != signpost.MIMEForm { // which describes how a request is sent, not what is returned
			return t
		}
	}
	if im.opts.MIMEType == "" {
		op.note(op.key,
			"no response has a content type that a manifest can have; using %s (set another with --mime-type)",
			signpost.MIMEJSON)
	}
	return cmp.Or(im.opts.MIMEType, signpost.MIMEJSON)
}

// mediaRank sorts content types: JSON first.
func mediaRank(t string) int {
	switch {
	case t == signpost.MIMEJSON:
		return 0
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

// contentTypes returns the content types of a response or a request body that can be used, the best one first.
func (im *importer) contentTypes(op *operation, n *tree.Node) []string {
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "%v", err)
	}
	var types []string
	for _, f := range im.fields(get(target, "content")) {
		t, _, err := mime.ParseMediaType(f.Key.Text) // without parameters
		if err == nil && validMIMEType(t) {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b string) int { return cmp.Or(mediaRank(a)-mediaRank(b), strings.Compare(a, b)) })
	return types
}

// validMIMEType reports whether a manifest can have this content type.
func validMIMEType(t string) bool {
	e := signpost.Endpoint{URL: "https://feeds.example.com/", Name: "any", Method: signpost.MethodGet, MIMEType: t}
	return len(signpost.NewManifest(e).Validate()) == 0
}
