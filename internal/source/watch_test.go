package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"signpost/internal/testkit"
)

// TestWatcher looks when it is demanded, when something arrives, when the ticker ticks, and when a file changes, also in
// a directory that did not exist at first.
func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	demands, arrivals, ticks := make(chan os.Signal), make(chan bool), make(chan time.Time)
	looks := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	directories := func() []string {
		_, all, _ := list(dir)
		return all
	}
	w := Watcher{Directories: directories, Demands: demands, Arrivals: arrivals, Ticks: ticks}
	go func() {
		defer close(ended)
		w.Run(ctx, func(demanded bool) {
			select {
			case looks <- demanded:
			case <-ctx.Done(): // of events that come in several parts
			}
		})
	}()
	want := func(what string, demanded bool) {
		t.Helper()
		if got := <-looks; got != demanded {
			t.Errorf("%s: demanded is %v", what, got)
		}
	}
	demands <- os.Interrupt
	want("a signal", true)
	arrivals <- true
	want("a demanded arrival", true)
	arrivals <- false
	want("an arrival", false)
	ticks <- time.Time{}
	want("a tick", false)
	below := filepath.Join(dir, "below")
	testkit.OK(t, os.Mkdir(below, 0o755))
	want("a new directory", false)
	for watched := false; !watched; { // Run receives again once it watches the directory
		select {
		case arrivals <- false:
			watched = true
		case <-looks:
		}
	}
	want("another arrival", false)
	write(t, "", below, "a.yaml")
	want("a file in it", false)
	cancel()
	<-ended
}

// TestLookInterval checks that an idle server with many files spends a thousandth of its time on checks, unless these are all
// that it has.
func TestLookInterval(t *testing.T) {
	for _, test := range []struct {
		took    time.Duration
		watched bool
		want    time.Duration
	}{
		{0, true, LookInterval},
		{time.Millisecond, true, LookInterval},
		{4 * time.Millisecond, true, 4 * time.Second},
		{4 * time.Millisecond, false, LookInterval},
		{time.Minute, true, maxLookInterval},
	} {
		if got := lookInterval(test.took, test.watched); got != test.want {
			t.Errorf("after %v, watched %v: %v", test.took, test.watched, got)
		}
	}
	dir := t.TempDir()
	watcher := testkit.Must(fsnotify.NewWatcher())(t)
	defer watcher.Close()
	for _, test := range []struct {
		directories []string
		want        bool
	}{{[]string{dir}, true}, {[]string{dir, filepath.Join(dir, "none"), dir}, false}} {
		w := Watcher{Directories: func() []string { return test.directories }}
		if got := w.follow(watcher); got != test.want || w.follow(nil) {
			t.Errorf("%q: all are watched: %v", test.directories, got)
		}
	}
}

func TestDirectories(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b/c.yaml": definitionText, "x/one.yaml": definitionText, "x/two.yaml": definitionText})
	sources, err := new(Reader).Follow(dir, filepath.Join(dir, "x/one.yaml"), filepath.Join(dir, "x/two.yaml"), filepath.Join(dir, "x/one.yaml"), "https://config.example.com/feeds.yaml")
	if err != nil || len(sources) != 4 || sources[0].Name() != dir || sources[3].Name() != "https://config.example.com/feeds.yaml" {
		t.Fatalf("%v, %v", sources, err)
	}
	for _, s := range sources {
		s.Read()
	}
	want := []string{dir, filepath.Join(dir, "b"), filepath.Join(dir, "x"), filepath.Join(dir, "x"), filepath.Join(dir, "x")}
	if got := Directories(sources); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = new(Reader).Follow("https://:bad")
	fails(t, "no host", err, "is not the address of a definition")
}

func TestPoll(t *testing.T) {
	ticks, arrived, news := make(chan time.Time), make(chan bool), make(chan bool)
	version := 0
	source := newRemote("x", "", func(_ context.Context, before state) (state, error) {
		if !<-news {
			return before, nil
		}
		version++
		return state{documents: []Document{{Sum: Sum(fmt.Sprint(version))}}}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); source.Poll(ctx, ticks, arrived) }()
	ticks <- time.Time{}
	news <- false // nothing arrives
	ticks <- time.Time{}
	news <- true
	if <-arrived {
		t.Error("a tick counts as a hurry")
	}
	source.Read()
	for _, changed := range []bool{true, false} { // a hurry is always answered
		source.Hurry()
		news <- changed
		if !<-arrived {
			t.Error("a hurry counts as a tick")
		}
		source.Read()
	}
	cancel()
	<-ended
	source.Hurry()
	source.Hurry() // one can be pending; this one does not wait
}
