package signpost

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty if unknown
	Manifest Manifest

	// Source tells manifests that are registered together apart. It is usually a file name.
	Source string
}
