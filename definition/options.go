package definition

import "time"

// Options control how definitions are parsed. The zero value is the default, which [Parse] uses.
type Options struct {
	// ContextKeys are the context keys that apps have, with descriptions, in addition to those that a file declares. If
	// it is nil and the file declares none, every key is accepted.
	ContextKeys map[string]string

	// Features are the enabled features, instead of those that a file enables. Those that a file does not have are
	// ignored. Nil means those of the file.
	Features []string

	// Today is the date for checking deprecations. Zero means the current date.
	Today time.Time
}
