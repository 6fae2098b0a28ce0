package source

import (
	"context"
	"time"
)

// Poller polls remote sources.
type Poller struct {
	Interval time.Duration    // zero means only on Hurry
	Ticks    <-chan time.Time // replaces the ticker of Interval in tests

	hurry chan struct{}
}

// NewPoller returns a poller.
func NewPoller(interval time.Duration) *Poller {
	return &Poller{Interval: interval, hurry: make(chan struct{}, 1)}
}

// Hurry makes Run poll immediately. It returns false if an earlier call is still pending.
func (p *Poller) Hurry() bool {
	select {
	case p.hurry <- struct{}{}:
		return true
	default:
		return false
	}
}

// Run polls a source until ctx is canceled. It sends on arrived when Read has something new, and sends true after a
// Hurry.
func (p *Poller) Run(ctx context.Context, remote *Remote, arrived chan<- bool) {
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
