package openapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
)

// addContext adds the context items for the security of an operation, and notes the schemes that have no key.
func (im *importer) addContext(op *operation) {
	owner := op.node
	if owner.get("security") == nil {
		owner = im.root
	} else {
		im.noteSecurity(op.note, owner)
	}
	alternatives := im.securityOf(owner).alternatives
	im.work += len(alternatives) * len(im.schemes)
	for _, scheme := range im.schemes {
		key := im.opts.Context[scheme]
		item := signpost.ContextItem{Key: key, Type: signpost.ContextCtx, Required: true}
		asked := false
		for _, schemes := range alternatives {
			asked = asked || slices.Contains(schemes, scheme)
			// A key is optional if another scheme, or none, is sufficient.
			item.Required = item.Required && slices.ContainsFunc(schemes, func(s string) bool { return im.opts.Context[s] == key })
		}
		im.asked[scheme] = im.asked[scheme] || asked
		if asked && !slices.ContainsFunc(op.context, func(other signpost.ContextItem) bool { return other.Key == key }) {
			op.context = append(op.context, item)
		}
	}
}

// security is what a document or an operation requires: the schemes of any one of the alternatives.
type security struct {
	alternatives [][]string
	unmapped     []string // schemes without a context key, sorted
}

// securityOf returns the declared security of a document or an operation.
func (im *importer) securityOf(owner *node) security {
	declared := owner.get("security")
	s, known := im.securities[declared]
	if known || declared == nil {
		return s
	}
	for _, alternative := range im.list(declared) {
		s.alternatives = append(s.alternatives, alternative.names())
		for _, name := range alternative.names() {
			if im.opts.Context[name] == "" {
				s.unmapped = append(s.unmapped, name)
			}
		}
	}
	slices.Sort(s.unmapped)
	s.unmapped = slices.Compact(s.unmapped)
	im.securities[declared] = s
	return s
}

// noteSecurity notes the security schemes without a context key. Only the deployment knows which key carries a token.
func (im *importer) noteSecurity(note func(*node, string, ...any), owner *node) {
	if names := im.securityOf(owner).unmapped; len(names) > 0 {
		note(owner.get("security"), "security (%s) is left out; map it to a context key with --context %s=KEY",
			strings.Join(names[:min(len(names), maxSchemesNamed)], ", "), names[0])
	}
}

// maxSchemesNamed limits the number of security schemes that a note names.
const maxSchemesNamed = 10

// noteUnknownSchemes notes the schemes of Options.Context that no imported operation requires.
func (im *importer) noteUnknownSchemes() {
	declared := im.follow(im.root.get("components").get("securitySchemes")).names()
	for _, scheme := range im.schemes {
		if im.asked[scheme] {
			continue
		}
		hint := ""
		if near := spell.Nearest(scheme, declared); near != "" && near != scheme {
			hint = fmt.Sprintf(": did you mean %q?", near)
		}
		im.note(im.root, "no endpoint asks for the security scheme %q%s", scheme, hint)
	}
}

// findCredentials finds the query parameters in which security schemes send a key.
func (im *importer) findCredentials() {
	schemes := im.follow(im.root.get("components").get("securitySchemes"))
	for _, name := range schemes.names() {
		if s := im.follow(schemes.get(name)); strings.EqualFold(s.get("in").string(), "query") {
			im.credentials[s.get("name").string()] = true
		}
	}
}

// These expressions recognize parameters that carry a credential by name, whatever the document says about security.
// They apply to the letters and digits of the name, in lower case. A key or token may also be something else, such as a
// pagination cursor, so for these the description decides.
var (
	credentialName = regexp.MustCompile(`^(x?(access|auth|api|app|bearer|client|id|jwt|oauth2?|private|refresh|security|session|user)?(secret|password|passwd|jwt)|` +
		`x?(access|auth|api|bearer|csrf|id|jwt|oauth2?|refresh|security|session|user)token|x?(access|api|license|private|secret|subscription)key|` +
		`auth|authorization|bearer|credentials?|signature|sig|sessionid|jsessionid|phpsessid)$`)
	credentialText = regexp.MustCompile(`(?i)\b(api[ -]?key|(access|auth|oauth|bearer|security|session|user)[ -]token|authenticat\w+|authori[sz]\w+|credentials?)\b`)
	pagingText     = regexp.MustCompile(`(?i)\b(page|pages|paging|pagination|next|previous|cursor|continu\w+|results?)\b`)
)

// isCredential reports whether a query parameter carries a credential, which editors must neither see nor set.
func (im *importer) isCredential(p parameter, s *shape) bool {
	if im.credentials[p.name] || s.format == "password" {
		return true
	}
	description := p.node.get("description").string()
	switch letters := strings.ToLower(separators.ReplaceAllString(p.name, "")); letters {
	case "key":
		return credentialText.MatchString(description)
	case "token":
		return credentialText.MatchString(description) || !pagingText.MatchString(description)
	default:
		return credentialName.MatchString(letters)
	}
}
