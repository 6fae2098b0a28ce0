package source

import (
	"context"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// LookInterval is how often a Watcher checks without an event. That catches what events miss: swapped links on a
	// network volume, or a directory that was removed and created again.
	LookInterval = 2 * time.Second

	// lookShare is the part of the time that such checks may take if all directories are watched: a thousandth.
	// Otherwise 2,000 files, where a check takes 15 ms, cost an idle server most of a percent of a core.
	lookShare = 1000

	// maxLookInterval is how long a check waits at most, however long it takes.
	maxLookInterval = 15 * time.Second
)

// Watcher calls a function when files may have changed.
type Watcher struct {
	// Directories returns the directories to watch. It is called again after each check.
	Directories func() []string

	// Demands are signals for an immediate check. It may be nil.
	Demands <-chan os.Signal

	// Arrivals reports that a remote source was polled; true means that it was demanded. It may be nil.
	Arrivals <-chan bool

	// Hasty makes it look soon after an event, for readers that show a file and read it again if it was incomplete.
	Hasty bool

	// Ticks replaces the timer of LookInterval in tests.
	Ticks <-chan time.Time
}

// Run calls look, never concurrently, until ctx is canceled: when a file in one of the directories has changed and come
// to rest, every LookInterval in any case, or less often if that takes long, and immediately on an arrival or a demand.
// demanded is true for the latter.
func (w Watcher) Run(ctx context.Context, look func(demanded bool)) {
	var events <-chan fsnotify.Event
	var errs <-chan error
	// Without a watcher, for example because the system limit is reached, the timer is sufficient.
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		events, errs = watcher.Events, watcher.Errors
	}
	rest := restTime
	if w.Hasty {
		rest = hastyRest
	}
	ticks := w.Ticks
	var settled <-chan time.Time
	var took time.Duration // by the last check without an event: usually nothing has changed
	wait := func() {
		watched := w.follow(watcher)
		if w.Ticks == nil {
			ticks = time.After(lookInterval(took, watched))
		}
	}
	wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Demands:
			look(true)
		case demanded := <-w.Arrivals:
			look(demanded)
		case <-events:
			settled = time.After(rest)
			continue
		case <-errs: // for example an overflow: something has changed
			settled = time.After(rest)
			continue
		case <-settled:
			settled = nil
			look(false)
		case <-ticks:
			began := time.Now()
			look(false)
			took = time.Since(began)
		}
		wait()
	}
}

// lookInterval returns how long to wait for the next check, given how long the last one took, and whether events tell
// about all changes.
func lookInterval(took time.Duration, watched bool) time.Duration {
	if !watched {
		return LookInterval
	}
	return min(max(LookInterval, lookShare*took), maxLookInterval)
}

// follow watches the directories, and reports whether it watches all of them. It does so again after each check,
// because a directory that was created again is a different one.
func (w Watcher) follow(watcher *fsnotify.Watcher) bool {
	if watcher == nil {
		return false
	}
	all := true
	for _, dir := range w.Directories() {
		all = watcher.Add(dir) == nil && all
	}
	return all
}

// Directories returns the directories to watch for changes to sources, for a [Watcher]: those that the last Read found.
func Directories(sources []Source) []string {
	var directories []string
	for _, s := range sources {
		if l, ok := s.(*local); ok {
			directories = append(directories, l.directories...)
		}
	}
	return directories
}
