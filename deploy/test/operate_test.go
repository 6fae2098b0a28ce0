package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOperatePage keeps the tables of docs/operate.md in sync with the program. The tests of internal/cli run the
// transcripts.
func TestOperatePage(t *testing.T) {
	page := readFile(t, repoDir, "docs", "operate.md")

	t.Run("metrics", func(t *testing.T) {
		var listed []string
		for _, m := range regexp.MustCompile("(?m)^\\| `(signpost_[a-z_]+)").FindAllStringSubmatch(page, -1) {
			listed = append(listed, m[1])
		}
		exposed := slices.DeleteFunc(exposedMetrics(t), func(name string) bool { return !strings.HasPrefix(name, "signpost_") })
		slices.Sort(listed)
		slices.Sort(exposed)
		if !slices.Equal(listed, exposed) {
			t.Errorf("the page explains\n%q\nand there are\n%q", listed, exposed)
		}
	})

	// A row is | `--flag` | default | ..., with the default as in the help, which omits a default of 0.
	t.Run("flags", func(t *testing.T) {
		flags := serveFlags(t)
		rows := regexp.MustCompile("(?m)^\\| `(--[a-z-]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(page, -1)
		if len(rows) < 5 {
			t.Fatalf("the page has %d rows with flags", len(rows))
		}
		for _, row := range rows {
			want := "`0`"
			if m := regexp.MustCompile(`\(default "?([^")]+)"?\)`).FindStringSubmatch(flags[row[1]]); m != nil {
				want = "`" + m[1] + "`"
			}
			if row[2] != want {
				t.Errorf("the page says that %s is %s by default, but it is %s", row[1], row[2], want)
			}
		}
		for flag := range flags {
			if regexp.MustCompile(`^--(max|read|write|idle|shutdown)-`).MatchString(flag) &&
				!slices.ContainsFunc(rows, func(row []string) bool { return row[1] == flag }) {
				t.Errorf("the limit %s is not on the page", flag)
			}
		}
	})

	t.Run("files", func(t *testing.T) {
		for _, m := range regexp.MustCompile(`\bdeploy/[A-Za-z0-9_./-]*[A-Za-z0-9]`).FindAllString(page, -1) {
			if _, err := os.Stat(filepath.Join(repoDir, m)); err != nil {
				t.Errorf("the page names a file that is not there: %v", err)
			}
		}
	})
}

// TestOperateInstall follows the page in an empty root directory, and checks that the unit finds what it names.
func TestOperateInstall(t *testing.T) {
	page := readFile(t, repoDir, "docs", "operate.md")
	root := t.TempDir()
	for _, dir := range []string{"usr/local/bin", "etc/systemd/system"} { // exist on every machine
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	definition := filepath.Join(t.TempDir(), "feeds.yaml")
	writeFile(t, definition, feeds("Feeds"))
	installs := regexp.MustCompile(`(?m)^install .*$`).FindAllString(page, -1)
	if len(installs) == 0 {
		t.Fatal("the page installs nothing")
	}
	for _, line := range installs {
		words := strings.Fields(line)
		for i, word := range words {
			switch {
			case strings.HasPrefix(word, "/"):
				words[i] = root + word
			case word == "signpost":
				words[i] = signpostBinary
			case word == "feeds.yaml":
				words[i] = definition
			}
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = repoDir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	u := make(unit)
	u.read(t, filepath.Join(root, "etc/systemd/system/signpost.service"))
	command := strings.Fields(u.get(t, "Service.ExecStart"))
	for _, path := range []string{command[0], command[len(command)-1] + "/feeds.yaml", u.get(t, "Service.EnvironmentFile")} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("the unit names what the page does not install: %v", err)
		}
	}
}
