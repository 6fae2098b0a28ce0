package signpost

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty if unknown
	Manifest Manifest

	// Source tells manifests that are registered together apart. It is usually a file name.
	Source string
}

// Service is the state of a service at one point in time: the manifests of its versions and their base path.
type Service struct {
	// BasePath is the path in front of the version, with a leading and without a trailing slash. Empty means unknown.
	BasePath string
	Versions []Version

	// Host is the host that the manifests were served for. Empty means that {{host}} is unresolved.
	Host string
}
