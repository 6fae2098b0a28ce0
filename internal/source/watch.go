package source

import (
	"context"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
)

// LookInterval is how often a Watcher checks without an event. That catches what events miss: swapped links on a network
// volume, or a directory that was removed and created again.
const LookInterval = 2 * time.Second

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

	// Ticks replaces the ticker of LookInterval in tests.
	Ticks <-chan time.Time
}

// Run calls look, never concurrently, until ctx is canceled: when a file in one of the directories has changed and come
// to rest, every LookInterval in any case, and immediately on an arrival or a demand. demanded is true for the latter.
func (w Watcher) Run(ctx context.Context, look func(demanded bool)) {
	ticks := w.Ticks
	if ticks == nil {
		ticks = time.Tick(LookInterval)
	}
	var events <-chan fsnotify.Event
	var errs <-chan error
	follow := func() {}
	// Without a watcher, for example because the system limit is reached, the ticker is sufficient.
	if watcher, err := fsnotify.NewWatcher(); err == nil {
		defer watcher.Close()
		events, errs = watcher.Events, watcher.Errors
		follow = func() {
			for _, dir := range w.Directories() {
				watcher.Add(dir) // repeat this: a directory that was created again is a different one
			}
		}
		follow()
	}
	rest := restTime
	if w.Hasty {
		rest = hastyRest
	}
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Demands:
			look(true)
			follow()
		case demanded := <-w.Arrivals:
			look(demanded)
		case <-events:
			settled = time.After(rest)
		case <-errs: // for example an overflow: something has changed
			settled = time.After(rest)
		case <-settled:
			settled = nil
			look(false)
			follow()
		case <-ticks:
			look(false)
			follow()
		}
	}
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

// DirectoriesOf returns the directories to watch for changes to the named paths. A directory that cannot be listed has
// none, but the ticker finds it.
func DirectoriesOf(paths ...string) []string {
	var dirs []string
	for _, path := range paths {
		_, below, _ := list(path)
		dirs = append(dirs, below...)
	}
	return dirs
}
