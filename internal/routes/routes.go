// Package routes defines the paths of manifests: {base path}/{version}/endpoints-manifest.
package routes

import (
	"cmp"
	"fmt"
	"strings"

	"signpost"
)

// name is the last segment of every manifest's path.
const name = "endpoints-manifest"

// Path returns the path of a version's manifest. The base path must come from [CleanBasePath].
func Path(basePath, version string) string {
	return strings.TrimSuffix(basePath, "/") + "/" + version + "/" + name
}

// Parse splits the path of a manifest, such as /feeds/v1/endpoints-manifest, into base path and version. It returns
// false for any other path.
func Parse(path string) (basePath, version string, ok bool) {
	rest, ok := strings.CutSuffix(strings.TrimSuffix(path, "/"), "/"+name)
	i := strings.LastIndexByte(rest, '/')
	if !ok || i < 0 || !ValidVersion(rest[i+1:]) {
		return "", "", false
	}
	return cmp.Or(rest[:i], "/"), rest[i+1:], true
}

// ValidVersion reports whether name is that of an API version: v and a number from 1, such as v1.
func ValidVersion(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	return ok && digits != "" && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}

// VersionIn returns the first segment in the path of a URL that names a version, or "".
func VersionIn(u signpost.URL) string {
	for segment := range strings.SplitSeq(u.Path(), "/") {
		if ValidVersion(segment) {
			return segment
		}
	}
	return ""
}

// OtherVersion returns the path segment of an endpoint's URL that names a different version of the service, of those
// that are keys of declared, or "". A manifest may list only the URLs of its own version. A URL without {{host}}
// belongs to a third party, whose versions are its own business.
func OtherVersion[T any](u signpost.URL, version string, declared map[string]T) string {
	if !u.HasHostPlaceholder() {
		return ""
	}
	for segment := range strings.SplitSeq(u.Path(), "/") {
		if _, ok := declared[segment]; ok && segment != version {
			return segment
		}
	}
	return ""
}

// unreserved are the characters that nobody percent-encodes in a URL.
const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

// CleanBasePath validates the base path of a service's manifests and returns it without a trailing slash; the root is
// "/".
func CleanBasePath(path string) (string, error) {
	base := strings.TrimSuffix(path, "/")
	if base == "" {
		return "/", nil
	}
	if u := signpost.CutURL(path); u.Scheme() != "" {
		return "", fmt.Errorf("base path %q is a URL: write only the path: /%s", path, strings.Trim(u.Path(), "/ "))
	}
	segments := strings.Split(base, "/")
	if segments[0] != "" {
		return "", fmt.Errorf("base path %q does not start with a slash: write %q", path, "/"+path)
	}
	for _, segment := range segments[1:] {
		if segment == "" || segment == "." || segment == ".." || strings.Trim(segment, unreserved) != "" {
			return "", fmt.Errorf(`base path %q has the segment %q: write it with letters, digits, "-", ".", "_" and "~"`,
				path, segment)
		}
	}
	return base, nil
}
