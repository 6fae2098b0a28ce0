package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/internal/tree"
)

var (
	parameterName   = regexp.MustCompile(`^[\w.-]+$`)
	parameterInPath = regexp.MustCompile(`\{\{([\w.-]+)\}\}|\{([\w.-]+)\}`) // the contract rejects any other brace
	serverVariable  = regexp.MustCompile(`\{([^{}]*)\}`)
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
	return base + "/" + escapePath(strings.Join(segments, "/")), nil
}

// escapePath percent-encodes letters that clients encode anyway.
func escapePath(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if c >= utf8.RuneSelf {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
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

// serversOf returns the servers of an operation, and where they are declared: the innermost ones win.
func (im *importer) serversOf(op *operation) (owner *tree.Node, servers []*tree.Node) {
	for _, owner = range []*tree.Node{op.node, op.item, im.root} {
		if servers := im.list(get(owner, "servers")); len(servers) > 0 {
			return owner, servers
		}
	}
	return im.root, nil
}

// findOwnHost finds the host that {{host}} stands for: that of the document's first absolute server. Without servers,
// it is the host that all operations share, if there is one.
func (im *importer) findOwnHost() {
	if im.opts.ThirdParty {
		return
	}
	for _, n := range im.list(get(im.root, "servers")) {
		if s := newServer(n); s.authority != "" {
			im.setOwnHost(s)
			return
		}
	}
	if get(im.root, "servers") != nil {
		return
	}
	var own server
	for i, op := range im.operations {
		_, servers := im.serversOf(op)
		if len(servers) == 0 {
			return
		}
		s := newServer(servers[0])
		if i == 0 {
			own = s
		}
		if s.host() != own.host() || s.authority == "" {
			return
		}
	}
	if own.authority != "" {
		im.setOwnHost(own)
	}
}

func (im *importer) setOwnHost(s server) {
	im.ownHost = s.host()
	im.note(s.node, "https://%s stands for %s", signpost.HostPlaceholder, s.origin())
}

// base returns the beginning of an operation's URL, without a trailing slash. It uses the first server.
func (im *importer) base(op *operation) (string, error) {
	owner, servers := im.serversOf(op)
	s := newServer(nil)
	if len(servers) > 0 {
		s = newServer(servers[0])
	}
	own := !im.opts.ThirdParty && (s.authority == "" || s.host() == im.ownHost)
	if owner != im.root {
		im.noteServers(op.note, servers)
	}
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
func (im *importer) noteServers(note func(*tree.Node, string, ...any), servers []*tree.Node) {
	var unused []string
	for _, n := range servers[:min(len(servers), maxNamed)] {
		s, first := newServer(n), newServer(servers[0])
		if s.origin() != first.origin() || s.path != first.path { // may be equal after variables are filled in
			unused = append(unused, cmp.Or(s.origin()+s.path, "/"))
		}
	}
	if more := len(servers) - maxNamed; more > 0 {
		unused = append(unused, fmt.Sprintf("%d more", more))
	}
	if len(unused) > 0 {
		note(servers[0], "using the first server, not %s", strings.Join(unused, ", "))
	}
}
