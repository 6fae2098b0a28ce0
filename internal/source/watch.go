package source

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// LookInterval is how often a Watcher looks without being told. It finds what no event tells: a swap of links
	// on a network volume, a directory that was removed and made again.
	LookInterval = 2 * time.Second

	// settleTime is how long files must rest after an event, so that one half written is not read.
	settleTime = 100 * time.Millisecond
)

// Watcher calls a function when files may have changed.
type Watcher struct {
	// Directories returns the directories in which files may change. It is asked again after each call. Nil means that
	// there are none.
	Directories func() []string

	// Off turns watching off: only Demands and Arrivals make it look.
	Off bool

	// Demands are signals to look at once. Nil means that there are none.
	Demands <-chan os.Signal

	// Arrivals tell that a remote source has been asked and, as true, that somebody demanded it. Nil means that there
	// are none.
	Arrivals <-chan bool

	// Ticks replaces the ticker of LookInterval in tests.
	Ticks <-chan time.Time
}

// Run calls look, never twice at a time, until ctx ends: when a file in one of the directories has changed and come to
// rest, every LookInterval in any case, and at once on a demand, which it tells look, or on an arrival.
func (w Watcher) Run(ctx context.Context, look func(demanded bool)) {
	ticks := w.Ticks
	var events <-chan fsnotify.Event
	var errs <-chan error
	follow := func() {}
	if !w.Off {
		if ticks == nil {
			ticker := time.NewTicker(LookInterval)
			defer ticker.Stop()
			ticks = ticker.C
		}
		// Without a watcher, as where the system has no more of them, the ticker alone has to do.
		if watcher, err := fsnotify.NewWatcher(); err == nil && w.Directories != nil {
			defer watcher.Close()
			events, errs = watcher.Events, watcher.Errors
			follow = func() {
				for _, dir := range w.Directories() {
					watcher.Add(dir) // again each time: a directory that was made anew is another one
				}
			}
			follow()
		}
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
			settled = time.After(settleTime)
		case <-errs: // such as more events than fit: there was one, in any case
			settled = time.After(settleTime)
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

// DirectoriesOf returns the directories in which the files may change that the paths name: those of a directory, with all
// below it, and of a file the one that it is in, since a watch on the file goes deaf when it is replaced.
func DirectoriesOf(paths ...string) []string {
	var dirs []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			_, below, _ := listDirectory(path) // what cannot be listed has no events, and the ticker finds it
			for _, dir := range below {
				dirs = append(dirs, dir.name)
			}
		} else {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return dirs
}
