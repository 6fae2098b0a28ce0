package signpost

import (
	"fmt"
	"strings"
)

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty where it is not known
	Manifest Manifest
}

// ValidVersion reports whether name names an API version: v and a number, such as v1.
func ValidVersion(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	if !ok || digits == "" || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// ForeignVersion returns the path segment of an endpoint's URL that names one of the service's other
// versions, or "". A manifest lists the URLs of its own version only; a URL without {{host}} belongs to
// somebody else, whose versions are none of the service's.
func ForeignVersion(endpointURL, version string, declared []string) string {
	u, err := parseURL(endpointURL)
	if err != nil || !strings.Contains(u.authority, HostPlaceholder) {
		return ""
	}
	path, _, _ := strings.Cut(u.rest, "#")
	path, _, _ = strings.Cut(path, "?")
	for segment := range strings.SplitSeq(path, "/") {
		for _, other := range declared {
			if segment == other && other != version {
				return other
			}
		}
	}
	return ""
}

// CleanBasePath checks the path under which the manifests of a service are, and returns it without a slash
// at its end; the root is "/".
func CleanBasePath(path string) (string, error) {
	base := strings.TrimSuffix(path, "/")
	if path == "/" || path == "" {
		return "/", nil
	}
	segments := strings.Split(base, "/")
	if segments[0] != "" {
		return "", fmt.Errorf("base path %q does not start with a slash: write %q", path, "/"+path)
	}
	for _, segment := range segments[1:] {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, notUnreserved) {
			return "", fmt.Errorf(`base path %q has the segment %q: write it with letters, digits, "-", ".", "_" and "~"`, path, segment)
		}
	}
	return base, nil
}

// notUnreserved reports whether a URL might carry the character percent-encoded.
func notUnreserved(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
}
