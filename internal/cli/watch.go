package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// lookInterval is how often files are read again. It finds what no event tells: a swap of links on a
	// network volume, a folder that was removed and made again.
	lookInterval = 2 * time.Second

	// settleTime is how long files must rest after an event, so that one half written is not read.
	settleTime = 100 * time.Millisecond
)

// watch calls look when a file near one of the paths changes, every lookInterval in any case, and at once on a
// signal or an arrival. With watching off, these two are all.
func watch(ctx context.Context, on bool, paths []string, signals <-chan os.Signal, arrivals <-chan struct{}, look func(force bool)) {
	var ticks <-chan time.Time
	var events <-chan fsnotify.Event
	var errs <-chan error
	follow := func() {}
	if on {
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		ticks = ticker.C
		// Without a watcher, as where the system has no more of them, the ticker alone has to do.
		if watcher, err := fsnotify.NewWatcher(); err == nil {
			defer watcher.Close()
			events, errs = watcher.Events, watcher.Errors
			follow = func() {
				for _, dir := range foldersOf(paths) {
					watcher.Add(dir) // again each time: a folder that was made anew is another one
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
		case <-signals:
			look(true)
		case <-arrivals:
			look(false)
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

// foldersOf returns the folders to watch: of a file the one that it is in, since a watch on the file goes deaf
// when it is replaced.
func foldersOf(paths []string) []string {
	var dirs []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dirs = append(dirs, path)
		} else {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return dirs
}
