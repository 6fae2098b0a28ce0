package diff

import (
	"fmt"

	"signpost/internal/spell"
)

// Requests counts the requests that a change concerns, of those that the endpoint answers for.
type Requests struct {
	Requests uint `json:"requests"`
	Of       uint `json:"of"`

	Doing  string `json:"-"` // what the requests do, such as "set it"; empty for all requests of an endpoint
	Period string `json:"-"` // when they were sent, such as "12–18 Nov"; empty if unknown
	Days   int    `json:"-"` // the length of the period
}

// Add returns the sum of the requests of two changes that are shown as one. It is nil if one of them is unknown.
func (r *Requests) Add(other *Requests) *Requests {
	if r == nil || other == nil {
		return nil
	}
	sum := *r
	sum.Requests += other.Requests
	sum.Of += other.Of
	return &sum
}

// Text returns the count for people: 3,120 of 48,212 requests set it (12–18 Nov).
func (r *Requests) Text() string {
	text := spell.Thousands(r.Requests) + " requests"
	switch {
	case r.Requests == 1 && r.Doing == "":
		text = "1 request"
	case r.Requests == 0 && r.Days == 1:
		return "no request in 1 day"
	case r.Requests == 0 && r.Days > 1:
		return fmt.Sprintf("no request in %d days", r.Days)
	case r.Requests == 0:
		return "no request"
	case r.Doing != "":
		text = fmt.Sprintf("%s of %s requests %s", spell.Thousands(r.Requests), spell.Thousands(r.Of), r.Doing)
	}
	if r.Period != "" {
		text += " (" + r.Period + ")"
	}
	return text
}
