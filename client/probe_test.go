package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"signpost/internal/testkit"
)

// TestProbesRunConcurrently checks the limit of concurrent calls, and that a slow one does not hold up the others.
func TestProbesRunConcurrently(t *testing.T) {
	const all = 2*maxCalls + 4
	var running atomic.Int32
	together := make(chan struct{}) // closed when the maximum number is running
	var once sync.Once
	feeds := make(map[string]http.HandlerFunc)
	var paths []string
	for i := range all {
		paths = append(paths, fmt.Sprintf("/x/%d", i))
		feeds[paths[i]] = func(w http.ResponseWriter, r *http.Request) {
			n := running.Add(1)
			defer running.Add(-1)
			if n == maxCalls {
				once.Do(func() { close(together) })
			}
			if <-together; n > maxCalls {
				t.Errorf("%d endpoints are called at once", n)
			}
			answer(200, "{}", jsonType)(w, r)
		}
	}
	var progress, want []int
	report := check(t, address, CheckOptions{Options: Options{Transport: inMemory(newService(feeds, paths...))}, Progress: func(done, total int) {
		progress, want = append(progress, done), append(want, len(want))
		if total != all {
			t.Errorf("the total is %d", total)
		}
	}})
	if !slices.Equal(progress, want) || len(want) != all+1 {
		t.Errorf("progress %v", progress)
	}
	for i, r := range resultsOf(report, "probe") {
		if !strings.HasSuffix(r.Endpoint, fmt.Sprintf("/x/%d", i)) || r.Status != Passed {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

// TestLimits checks how many endpoints are called, and how much memory links take.
func TestLimits(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range maxProbes + 2 {
		paths = append(paths, fmt.Sprintf("/x/%d", i))
	}
	report := check(t, address, CheckOptions{Options: Options{Transport: inMemory(newService(nil, paths...))}})
	expect(t, resultsOf(report, "probe")[maxProbes], "skipped: 2 more endpoints: only 1000 are called", "")

	feed := answer(200, `{"entry": ["https://feeds.example.com/x/1", "https://feeds.example.com/x/2"]}`, jsonType)
	opts := Options{Transport: inMemory(newService(map[string]http.HandlerFunc{"/x": feed}, "/x")), limit: 3 * maxPointer}
	report = check(t, address, CheckOptions{Follow: -1, Options: opts})
	expect(t, one(t, report, "links"), "passed: every link has an endpoint that answers for it: 1 link, 0 followed, 1 not; further links were not checked", "")
}

// TestStop checks that a canceled check ends soon, whatever the endpoints do, and blames neither them nor links.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	home := answer(200, `{"next": "https://feeds.example.com/home/2", "template": "https://feeds.example.com/home/{{id}}"}`, jsonType)
	hang := func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}
	report := testkit.Must(Check(ctx, address, CheckOptions{Options: site(t, newService(map[string]http.HandlerFunc{"/home": home, "/home/2": hang}, "/home"))}))(t)
	expect(t, one(t, report, "links"), "passed: every link has an endpoint that answers for it: 2 links, 1 followed", "")
}
