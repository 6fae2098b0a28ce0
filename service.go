package signpost

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty where it is not known
	Manifest Manifest
}
