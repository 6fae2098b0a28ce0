package daemon

import (
	"path/filepath"
	"testing"

	"signpost/internal/testkit"
)

func TestContainerLimit(t *testing.T) {
	for _, test := range []struct {
		group, limit string
		want         int64
	}{
		{"0::/\n", "268435456\n", 256 << 20},
		{"12:cpu:/x\n0::/system.slice/signpost.service\n", "1000\n", 1000},
		{"0::/\n", "max\n", 0},
		{"12:cpu:/\n", "1000\n", 0},
		{"", "1000\n", 0},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"proc/self/cgroup": test.group, "sys/fs/cgroup/memory.max": test.limit, "sys/fs/cgroup/system.slice/signpost.service/memory.max": test.limit,
		} {
			testkit.Write(t, filepath.Join(root, name), text)
		}
		if got := containerLimit(root); got != test.want {
			t.Errorf("%q with %q: %d, want %d", test.group, test.limit, got, test.want)
		}
	}
}

// The heap of a small server grows to 14 MB, that of a large one doubles.
func TestGrowthPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 250, 1 << 20: 250, 4 << 20: 250, 5 << 20: 180, 7 << 20: 100, 1 << 30: 100} {
		if got := growthPercent(live); got != want {
			t.Errorf("live %d: %d %%, want %d %%", live, got, want)
		}
	}
}
