package signpost

import "time"

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty if unknown
	Manifest Manifest

	// Source tells manifests that are registered together apart. It is usually a file name.
	Source string

	// Hosts are those that the version is published on, as the definition declares them.
	Hosts Hosts

	// Errors are the paths of what a definition has errors in: Signpost would not have served these parts.
	Errors []Path

	// Lines are those of the endpoints in the source, in the same order. Nil means that messages name the source alone.
	Lines []int
}

// Service is the state of a service at one point in time: the manifests of its versions and their base path.
type Service struct {
	// BasePath is the path in front of the version, with a leading and without a trailing slash. Empty means unknown.
	BasePath string
	Versions []Version

	// Hosts are those that the service is published on, as its definition declares them.
	Hosts Hosts

	// Served means that the versions are manifests that were served or stored, and not those of a definition.
	Served bool

	// Host is the host of the address that a manifest was fetched from. Empty means that it was not fetched.
	Host string

	// Deprecations says which parts will be removed.
	Deprecations map[Part]*Deprecation
}

// Part is a version of a service, an endpoint of it by its URL as written, or a modifier of that endpoint by its id.
type Part struct{ Version, Endpoint, Modifier string }

// Deprecation announces that a part of a service will be removed. It is not part of the manifest.
type Deprecation struct {
	Since  time.Time // day of the announcement
	Until  time.Time // last day on which it works; zero if undecided
	Use    string    // replacement: a URL or a name; may be empty
	Reason string    // may be empty
}

// Over reports whether the last day has passed.
func (d Deprecation) Over(today time.Time) bool {
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
	return !d.Until.IsZero() && day.After(d.Until)
}
