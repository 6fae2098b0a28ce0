package openapi

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
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
	s := im.serverOf(op)
	switch {
	case !im.opts.ThirdParty && (s.origin == "" || s.host == im.ownHost):
		s.origin = "https://" + signpost.HostPlaceholder
	case s.origin == "":
		return "", fmt.Errorf("its server %q is not an absolute URL, which --third-party needs", cmp.Or(s.path, "/"))
	case !im.opts.ThirdParty:
		op.note(s.node, "%s is not the document's own server: the URL stays absolute", s.origin)
	}
	segments := strings.Split(strings.TrimPrefix(op.path, "/"), "/")
	for i, segment := range segments {
		name, colon := strings.CutPrefix(segment, ":")
		switch {
		case colon && name == "": // a lone colon is literal
		case colon && parameterName.MatchString(name):
			segments[i] = "{{" + name + "}}"
		case colon:
			return "", fmt.Errorf("path segment %q is not a parameter, such as {id}", segment)
		default:
			segments[i] = parameterInPath.ReplaceAllString(segment, "{{$1$2}}")
		}
	}
	return s.origin + s.path + "/" + notASCII.ReplaceAllStringFunc(strings.Join(segments, "/"), url.PathEscape), nil
}

// server is a server of the document, with the defaults of its variables filled in.
type server struct {
	node   *tree.Node
	origin string // without user info; empty if the URL is relative to the document
	host   string // with the port, for comparison: http and https make no difference
	path   string // without a trailing slash
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
	s := server{node: n, path: strings.TrimSuffix(path.Join("/", u.Path()), "/")}
	if host := u.Authority(); host != "" {
		host = host[strings.LastIndexByte(host, '@')+1:]
		s.origin = cmp.Or(u.Scheme(), "https") + "://" + host
		s.host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
	}
	return s
}

// serverOf returns the first server of an operation. The innermost list of servers wins; without any, it is the server
// that the document comes from.
func (im *importer) serverOf(op *operation) server {
	for _, owner := range []*tree.Node{op.node, op.item, im.root} {
		if servers := im.list(get(owner, "servers")); len(servers) > 0 {
			return newServer(servers[0])
		}
	}
	return server{}
}

// findOwnHost finds the host that {{host}} stands for: that of the document's first server.
func (im *importer) findOwnHost() {
	servers := im.list(get(im.root, "servers"))
	if len(servers) == 0 {
		return
	}
	own := newServer(servers[0])
	if own.origin != "" && !im.opts.ThirdParty {
		im.ownHost = own.host
		im.note(own.node, "https://%s stands for %s", signpost.HostPlaceholder, own.origin)
	}
}
