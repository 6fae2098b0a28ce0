package source

import (
	"context"
	"time"
)

// Poller asks remote sources for what is new.
type Poller struct {
	Interval time.Duration    // how often; zero means only when asked to hurry
	Ticks    <-chan time.Time // replaces the ticker of Interval in tests

	hurry chan struct{}
}

// NewPoller returns a poller.
func NewPoller(interval time.Duration) *Poller {
	return &Poller{Interval: interval, hurry: make(chan struct{}, 1)}
}

// Hurry makes Run ask at once.
func (p *Poller) Hurry() {
	select {
	case p.hurry <- struct{}{}:
	default: // it is going to
	}
}

// Run asks a source until ctx ends, and says on arrived when Read has something new to say or, as true, when it was asked
// to hurry.
func (p *Poller) Run(ctx context.Context, remote Remote, arrived chan<- bool) {
	ticks := p.Ticks
	if ticks == nil && p.Interval > 0 {
		ticker := time.NewTicker(p.Interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		hurried := false
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-p.hurry:
			hurried = true
		}
		if !remote.Fetch(ctx) && !hurried {
			continue
		}
		select {
		case arrived <- hurried:
		case <-ctx.Done():
			return
		}
	}
}
