package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"

	"signpost/server"
)

// TestMemoryIsGivenBack checks that an idle process releases memory.
func TestMemoryIsGivenBack(t *testing.T) {
	m := newMemory(Config{}, nil, nil)
	m.giveBack()
	before := m.last
	garbage := make([]byte, 64<<20)
	for i := range garbage {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
	m.cycles = 0 // the collector has run since
	m.look()
	if inUse, _ := readMemory(); inUse < before+32<<20 {
		t.Errorf("memory was given back from %d to %d MB while there was something to do", before>>20, inUse>>20)
	}
	m.look()
	if inUse, _ := readMemory(); inUse > before+32<<20 {
		t.Errorf("%d MB are in use, and %d MB were before", inUse>>20, before>>20)
	}
}

// TestMemoryLimit checks that the limit is what requests may use together, unless the environment sets one.
func TestMemoryLimit(t *testing.T) {
	handler, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(old)
	m := newMemory(Config{MaxConnections: 1000}, handler, func() int { return 100 })
	if want := int64(server.DefaultCacheBytes + server.DefaultInFlightBytes + 1000*connectionBytes + memorySlack); m.bound != want {
		t.Errorf("the bound is %d, want %d", m.bound, want)
	}
	m.last = 10<<20 + 100*connectionBytes // with the connections that are open
	m.limit()
	if got := debug.SetMemoryLimit(-1); got != 10<<20+m.bound {
		t.Errorf("the limit is %d, want the bound above 10 MiB", got)
	}
	m.last = 1<<30 + 100*connectionBytes
	m.limit()
	if got := debug.SetMemoryLimit(-1); got != 2<<30 {
		t.Errorf("the limit is %d, want room for a reload", got)
	}
	t.Setenv("GOMEMLIMIT", "123MiB")
	m.last = 10 << 20
	m.limit()
	if got := debug.SetMemoryLimit(-1); got != 2<<30 {
		t.Errorf("the limit is %d, though the environment has one", got)
	}
	secure := newMemory(Config{MaxConnections: 1000, Certificate: CertificateFiles{Cert: "tls.crt"}}, handler, nil)
	if want := int64(1000 * (tlsConnectionBytes - connectionBytes)); secure.bound-m.bound != want {
		t.Errorf("over https the bound is higher by %d, want %d", secure.bound-m.bound, want)
	}
	if m := newMemory(Config{MaxConnections: -1}, handler, nil); m.bound != 0 {
		t.Errorf("the bound is %d for any number of connections", m.bound)
	}
}

// TestGCPercent checks that a small heap is collected less often, and a large one as usual.
func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 4 << 20: 200, 8 << 20: 100, 1 << 30: 100} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d bytes: %d per cent, not %d", live, got, want)
		}
	}
}
