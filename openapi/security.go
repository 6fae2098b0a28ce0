package openapi

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// alternatives returns the security that a document or an operation requires: the schemes of any one of the items.
func (im *importer) alternatives(owner *tree.Node) [][]string {
	var all [][]string
	for _, item := range im.list(get(owner, "security")) {
		schemes := []string{}
		for _, f := range im.fields(item) {
			schemes = append(schemes, f.Key.Text)
		}
		all = append(all, schemes)
	}
	return all
}

// addContext adds the context items for the security of an operation, and notes the schemes that have no key.
func (im *importer) addContext(op *operation) {
	owner := op.node
	if get(owner, "security") == nil {
		owner = im.root
	} else {
		im.noteSecurity(op.note, owner)
	}
	if len(im.opts.Context) == 0 {
		return // the security of the document can be long, and is that of each operation
	}
	alternatives := im.alternatives(owner)
	all := slices.Concat(alternatives...)
	for _, scheme := range slices.Sorted(maps.Keys(im.opts.Context)) {
		if !slices.Contains(all, scheme) {
			continue
		}
		im.matched[scheme] = true
		item := signpost.ContextItem{Key: im.opts.Context[scheme], Type: signpost.ContextCtx, Required: true}
		hasKey := func(scheme string) bool { return im.opts.Context[scheme] == item.Key }
		for _, schemes := range alternatives { // a key is optional if another scheme, or none, is sufficient
			item.Required = item.Required && slices.ContainsFunc(schemes, hasKey)
		}
		if !slices.Contains(op.context, item) {
			op.context = append(op.context, item)
		}
	}
}

// noteSecurity notes the security schemes without a context key. Only the deployment knows which key carries a token.
func (im *importer) noteSecurity(note func(*tree.Node, string, ...any), owner *tree.Node) {
	names := slices.Concat(im.alternatives(owner)...)
	names = slices.DeleteFunc(names, func(name string) bool { return im.opts.Context[name] != "" })
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > 0 {
		key, _ := owner.Field("security")
		note(key, "security (%s) is left out; map it to a context key with --security-key %s=KEY",
			strings.Join(names, ", "), names[0])
	}
}

// findCredentials finds the query parameters in which security schemes send a key.
func (im *importer) findCredentials() {
	for _, f := range im.fields(get(get(im.root, "components"), "securitySchemes")) {
		if s, _ := im.deref(f.Value); strings.EqualFold(str(get(s, "in")), "query") {
			im.credentials[str(get(s, "name"))] = true
		}
	}
}

// These expressions recognize parameters that carry a credential, whatever the document says about security. Those for
// names apply to the letters and digits of a name, in lower case. When in doubt, a parameter is left out: a missing
// control is an inconvenience, a secret that editors see and save is a leak.
var (
	credentialName = regexp.MustCompile(`^oauth|^(auth|key|sig|sid)$|` +
		`(secret|passw(or)?d|passphrase|jwt|signature|credentials?|authorization|sessionid|sessid|hmac|bearer|pwd)$|` +
		`(access|account|api|app|application|auth|client|consumer|developer|dev|licen[cs]e|partner|private|secret|` +
		`security|service|session|shared|sign(ing|ed)?|subscription|user)keys?$`)
	tokenName      = regexp.MustCompile(`tokens?$`)
	credentialText = regexp.MustCompile(`(?i)\b(api|app|application|access|account|auth\w*|bearer|client|consumer|` +
		`developer|licen[cs]e|oauth|partner|private|secret|security|session|subscription|user|your)[ -]?(key|token)\b|` +
		`\b(authenticat|authori[sz]|credential)\w*|\b(secret|password|signature)\b`)

	// credentialStart is what the description of a credential begins with: "Your API key", "The access token".
	credentialStart = regexp.MustCompile(`(?i)^\W*((the|a|an|your|my|valid|unique|required|optional)\W+)*` +
		`(api|app|application|access|auth\w*|bearer|client|consumer|developer|licen[cs]e|oauth|private|secret|session|` +
		`subscription)[ -]?(key|token|secret)\b`)

	// pagingName matches tokens that lead to another page of a list.
	pagingName = regexp.MustCompile(`page|paging|pagination|next|prev|cursor|continu|skip|offset|resume|sync|start`)
)

// isCredential reports whether a query parameter carries a credential, which editors must neither see nor set.
func (im *importer) isCredential(p *parameter, s *shape) bool {
	if im.credentials[p.name] || s.format == "password" {
		return true
	}
	if s.kind() == signpost.KindBoolean {
		return false
	}
	description := str(get(p.node, "description"))
	letters := strings.ToLower(separators.ReplaceAllString(p.name, ""))
	return credentialName.MatchString(letters) || credentialStart.MatchString(description) ||
		tokenName.MatchString(letters) && (credentialText.MatchString(description) || !pagingName.MatchString(letters))
}
