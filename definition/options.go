package definition

import "time"

// Options changes how definitions are read. The zero value is the default, which [Parse] uses.
type Options struct {
	// ContextKeys are the context keys that apps have, with descriptions, besides those that a file declares itself.
	// If it is nil and the file declares none, every key is taken.
	ContextKeys map[string]string

	// Today is the day on which deprecations are judged. Zero means the current day.
	Today time.Time
}

func (o Options) today() time.Time {
	if o.Today.IsZero() {
		return time.Now()
	}
	return o.Today
}
