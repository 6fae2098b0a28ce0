package signpost

// Version is the manifest of one API version of a service.
type Version struct {
	Name     string // such as v1; empty where it is not known
	Manifest Manifest

	// Source is where the manifest comes from, such as the name of a file, where several are registered together.
	Source string
}
