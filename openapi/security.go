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
	alternatives := im.alternatives(owner)
	for _, scheme := range im.schemes {
		key := im.opts.Context[scheme]
		item := signpost.ContextItem{Key: key, Type: signpost.ContextCtx, Required: true}
		asked := false
		for _, schemes := range alternatives {
			asked = asked || slices.Contains(schemes, scheme)
			// A key is optional where another scheme, or none, will do.
			item.Required = item.Required && slices.ContainsFunc(schemes, func(s string) bool { return im.opts.Context[s] == key })
		}
		im.asked[scheme] = im.asked[scheme] || asked
		if asked && !slices.ContainsFunc(op.context, func(other signpost.ContextItem) bool { return other.Key == key }) {
			op.context = append(op.context, item)
		}
	}
}

// alternatives returns the security schemes of a document or an operation. It takes those of any one entry.
func (im *importer) alternatives(owner *node) [][]string {
	var all [][]string
	for _, alternative := range im.list(owner.get("security")) {
		all = append(all, alternative.names())
		im.work += 1 + len(alternative.names())
	}
	return all
}

// noteSecurity notes the security schemes that are asked for and have no context key. Which key carries a
// token is for the deployment to say.
func (im *importer) noteSecurity(note func(*node, string, ...any), owner *node) {
	names := slices.Concat(im.alternatives(owner)...)
	names = slices.DeleteFunc(names, func(name string) bool {
		return im.opts.Context[name] != ""
	})
	if slices.Sort(names); len(names) > 0 {
		note(owner.get("security"), "security (%s) is left out; map it to a context key with --context %s=KEY",
			strings.Join(slices.Compact(names), ", "), names[0])
	}
}

// noteUnknownSchemes notes the schemes of Options.Context that no imported operation asks for.
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

// findCredentials finds the query parameters in which security schemes carry a key.
func (im *importer) findCredentials() {
	schemes := im.follow(im.root.get("components").get("securitySchemes"))
	for _, name := range schemes.names() {
		if s := im.follow(schemes.get(name)); strings.EqualFold(s.get("in").string(), "query") {
			im.credentials[s.get("name").string()] = true
		}
	}
}

// Parameters that carry a credential by their name, whatever a document says of its security. The expressions
// see the letters and digits of a name, in lower case. A key or a token may also be something else, such as the
// place where a list goes on, so there the description counts.
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
