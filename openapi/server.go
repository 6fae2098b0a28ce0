package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

var (
	parameterName   = regexp.MustCompile(`^[\w.-]+$`)
	parameterInPath = regexp.MustCompile(`\{\{([\w.-]+)\}\}|\{([\w.-]+)\}`) // the contract rejects any other brace
	serverVariable  = regexp.MustCompile(`\{([^{}]*)\}`)
	notASCII        = regexp.MustCompile(`[^\x00-\x7F]+`) // clients percent-encode it
)

// url returns the URL of an operation: its server, then its path with {id} and :id as {{id}}.
func (im *importer) url(op *operation) (string, error) {
	base, err := im.base(op)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(op.path, "/") {
		op.note(op.key, "the path does not start with a slash; using %q", "/"+op.path)
	}
	segments := strings.Split(strings.TrimPrefix(op.path, "/"), "/")
	for i, s := range segments {
		name, colon := strings.CutPrefix(s, ":")
		switch {
		case colon && name == "": // a lone colon is literal
		case colon && parameterName.MatchString(name):
			segments[i] = "{{" + name + "}}"
		case colon:
			return "", fmt.Errorf("path segment %q is not a parameter, such as {id}", s)
		default:
			segments[i] = parameterInPath.ReplaceAllString(s, "{{$1$2}}")
		}
	}
	return base + "/" + notASCII.ReplaceAllStringFunc(strings.Join(segments, "/"), url.PathEscape), nil
}

// server is a server of the document, with the defaults of its variables filled in.
type server struct {
	node              *tree.Node
	scheme, authority string // without an authority, the URL is relative to the document
	path              string // without a trailing slash
}

func newServer(n *tree.Node) server {
	raw := serverVariable.ReplaceAllStringFunc(str(get(n, "url")), func(braces string) string {
		d := get(get(get(n, "variables"), strings.Trim(braces, "{}")), "default")
		if !isScalar(d) {
			return braces
		}
		return str(d)
	})
	if strings.HasPrefix(raw, "//") {
		raw = "https:" + raw
	}
	u := signpost.CutURL(raw)
	return server{
		node: n, scheme: cmp.Or(u.Scheme(), "https"), authority: u.Authority(),
		path: strings.TrimSuffix(path.Join("/", u.Path()), "/"),
	}
}

// hostport returns the authority without user info.
func (s server) hostport() string {
	return s.authority[strings.LastIndexByte(s.authority, '@')+1:]
}

// host returns the normalized host and port of the server, for comparison. http and https do not make a difference.
func (s server) host() string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(s.hostport()), ":443"), ":80")
}

// origin returns the server without its path and credentials.
func (s server) origin() string {
	if s.authority == "" {
		return ""
	}
	return s.scheme + "://" + s.hostport()
}

// servers returns the servers of the document, a path or an operation.
func (im *importer) servers(owner *tree.Node) []server {
	var all []server
	for _, n := range im.list(get(owner, "servers")) {
		all = append(all, newServer(n))
	}
	return all
}

// serversOf returns the servers of an operation, and where they are declared: the innermost ones win. Without any, it is
// the one that the document comes from.
func (im *importer) serversOf(op *operation) (owner *tree.Node, servers []server) {
	for _, owner = range []*tree.Node{op.node, op.item, im.root} {
		if servers = im.servers(owner); len(servers) > 0 {
			return owner, servers
		}
	}
	return im.root, []server{newServer(nil)}
}

// findOwnHost finds the host that {{host}} stands for: that of the document's first absolute server. Without servers,
// it is the host that all operations share, if there is one.
func (im *importer) findOwnHost() {
	candidates := slices.DeleteFunc(im.servers(im.root), func(s server) bool { return s.authority == "" })
	if get(im.root, "servers") == nil {
		for _, op := range im.operations {
			_, servers := im.serversOf(op)
			candidates = append(candidates, servers[0])
		}
		if slices.ContainsFunc(candidates, func(s server) bool { return s.host() != candidates[0].host() }) {
			return
		}
	}
	if len(candidates) > 0 && candidates[0].authority != "" && !im.opts.ThirdParty {
		im.ownHost = candidates[0].host()
		im.note(candidates[0].node, "https://%s stands for %s", signpost.HostPlaceholder, candidates[0].origin())
	}
}

// base returns the beginning of an operation's URL, without a trailing slash. It uses the first server.
func (im *importer) base(op *operation) (string, error) {
	owner, servers := im.serversOf(op)
	if owner != im.root {
		noteServers(op.note, servers)
	}
	s := servers[0]
	own := !im.opts.ThirdParty && (s.authority == "" || s.host() == im.ownHost)
	switch {
	case own:
		s.scheme, s.authority = "https", ""
	case s.authority == "":
		return "", fmt.Errorf("its server %q is not an absolute URL, which --third-party needs", cmp.Or(str(get(s.node, "url")), "/"))
	case s.authority != s.hostport():
		return "", errors.New("its server has user info before its host")
	case !im.opts.ThirdParty:
		op.note(s.node, "%s is not the document's own server: the URL stays absolute", s.origin())
	}
	if open := serverVariable.FindString(s.authority + s.path); open != "" {
		return "", fmt.Errorf("server variable %s has no default", open)
	}
	return s.scheme + "://" + cmp.Or(s.authority, signpost.HostPlaceholder) + s.path, nil
}

// noteServers notes the servers that are not used.
func noteServers(note notef, servers []server) {
	var unused []string
	for _, s := range servers {
		if s.origin() != servers[0].origin() || s.path != servers[0].path { // may be equal after variables are filled in
			unused = append(unused, cmp.Or(s.origin()+s.path, "/"))
		}
	}
	if len(unused) > 0 {
		note(servers[0].node, "using the first server, not %s", strings.Join(unused, ", "))
	}
}
