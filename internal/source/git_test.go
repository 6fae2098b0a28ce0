package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

func TestCutRevision(t *testing.T) {
	testkit.Cases(t, "testdata/revisions.golden", func(name string) string {
		revision, path := cutRevision(name)
		return fmt.Sprintf("%q %q", revision, path)
	})
}

// git runs git in a directory.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Tester", "-c", "user.email=tester@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil && args[0] != "merge" {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func service(name string) string { return "service: " + name + "\n" + definitionText }

// repository returns a repository with definitions and other files in its root and in packages/feeds.
func repository(t *testing.T) string {
	t.Helper()
	dir := tree(t, map[string]string{"feeds.yaml": service("root"), "packages/feeds/feeds.yaml": service("package"), "packages/feeds/sub/more.yaml": service("more"), "plain.yaml": service("plain"), "others/x.yaml": "a: b\n",
		"packages/feeds/package.json": `{"name": "x"}`, "packages/feeds/node_modules/x.yaml": service("x"), "packages/feeds/.hidden.yaml": service("x")})
	testkit.OK(t, os.Symlink("feeds.yaml", filepath.Join(dir, "packages", "feeds", "link.yaml")))
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	return dir
}

// servicesIn returns the names and paths of documents with the services in them.
func servicesIn(documents []Document) string {
	var all []string
	for _, d := range documents {
		line, _, _ := strings.Cut(string(d.Text), "\n")
		all = append(all, d.Name+", "+d.Path+", "+line)
	}
	return strings.Join(all, "\n")
}

// readRevisions reads the arguments in a file of cases. Errors that say that something does not exist are marked.
func readRevisions(t *testing.T, path string) {
	t.Helper()
	testkit.Cases(t, path, func(arg string) string {
		documents, err := new(Reader).Read(t.Context(), arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "does not exist: " + err.Error()
		case err != nil:
			return "error: " + err.Error()
		}
		return servicesIn(documents)
	})
}

// casesIn returns the path of a file of cases, for a test that changes the directory.
func casesIn(t *testing.T, name string) string {
	t.Helper()
	return testkit.Must(filepath.Abs(filepath.Join("testdata", name)))(t)
}

// TestReadRevisionPath checks that REV:path means what it means in git.
func TestReadRevisionPath(t *testing.T) {
	dir, cases := repository(t), casesIn(t, "revision-paths.golden")
	t.Chdir(filepath.Join(dir, "packages", "feeds"))
	write(t, service("staged"), dir, "feeds.yaml")
	write(t, service("staged package"), dir, "packages/feeds/feeds.yaml")
	git(t, dir, "add", ".")
	write(t, service("unsaved"), dir, "feeds.yaml")
	readRevisions(t, cases)
}

// TestReadRevisionLinks checks that symbolic links of a revision lead where they lead on disk.
func TestReadRevisionLinks(t *testing.T) {
	dir, cases := t.TempDir(), casesIn(t, "revision-links.golden")
	t.Chdir(dir)
	for _, name := range []string{"common/c", "others/deep/x", "services/a", "services/.v1/hidden"} {
		write(t, service(name), dir, name+".yaml")
	}
	for link, target := range map[string]string{
		"services/c.yaml": "../common/c.yaml", "services/more": "../others", "services/now.yaml": ".v1/hidden.yaml",
		"services/twice.yaml": "a.yaml", "services/up": "..", "services/none.yaml": "none", "services/out.yaml": "/etc/feeds.yaml",
		"services/.skipped": "../others", "services/far": "../out", "current": "services", "loop": "loop", "grow": "grow/b", "out": "../..", "others/back": "../services",
	} {
		testkit.OK(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",submodule")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",others/deep/submodule")
	git(t, dir, "commit", "-q", "-m", "one")
	readRevisions(t, cases)
	for _, name := range []string{"services", "current", "others"} {
		onDisk, inGit := testkit.Must(new(Reader).Read(t.Context(), name))(t), testkit.Must(new(Reader).Read(t.Context(), "HEAD:"+name))(t)
		testkit.Equal(t, name+" on disk", fmt.Sprint(pathsOf(onDisk)), fmt.Sprint(pathsOf(inGit)))
	}
	var notes []string
	reader := &Reader{Note: func(note string) { notes = append(notes, note) }}
	testkit.Must(reader.Read(t.Context(), "HEAD:", "HEAD:services"))(t)
	testkit.Equal(t, "notes", strings.Join(notes, "\n"), `skipped submodules of HEAD:: others/deep/submodule, submodule
skipped submodules of HEAD:services: more/deep/submodule`)
	err := new(Reader).ConfirmNew(t.Context(), "HEAD:b.yaml", "current/a.yaml")
	testkit.Equal(t, "misspelt", fmt.Sprint(err), `read definition "HEAD:b.yaml": it does not exist there: did you mean HEAD:current/a.yaml?`)
}

// TestReadConflict checks that a file with a merge conflict is not read from an arbitrary stage.
func TestReadConflict(t *testing.T) {
	dir, cases := repository(t), casesIn(t, "conflicts.golden")
	t.Chdir(dir)
	git(t, dir, "checkout", "-q", "-b", "theirs")
	write(t, service("theirs"), dir, "feeds.yaml")
	git(t, dir, "commit", "-q", "-a", "-m", "theirs")
	git(t, dir, "checkout", "-q", "main")
	write(t, service("ours"), dir, "feeds.yaml")
	git(t, dir, "commit", "-q", "-a", "-m", "ours")
	git(t, dir, "merge", "theirs")
	readRevisions(t, cases)
}

// TestConfirmNew checks when a REV:path that does not exist is new, and when it is a mistake. A case is OLD and NEW; DIR is the
// root of the repository.
func TestConfirmNew(t *testing.T) {
	dir, cases := repository(t), casesIn(t, "confirm-new.golden")
	t.Chdir(filepath.Join(dir, "packages", "feeds"))
	write(t, definitionText, dir, "packages/feeds/new.yaml")
	testkit.Cases(t, cases, func(line string) string {
		old, now, _ := strings.Cut(strings.ReplaceAll(line, "DIR", dir), " ")
		return fmt.Sprint(new(Reader).ConfirmNew(t.Context(), old, now))
	})
}

// What the configuration of a repository names is not started: somebody else may have written it.
func TestGitStartsNothing(t *testing.T) {
	origin := repository(t)
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, origin, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin, dir)
	started := filepath.Join(t.TempDir(), "started")
	script := filepath.Join(t.TempDir(), "script")
	testkit.Write(t, script, "#!/bin/sh\ntouch "+started+"\n")
	testkit.OK(t, os.Chmod(script, 0o755))
	git(t, dir, "read-tree", "HEAD")
	for _, name := range []string{"core.fsmonitor", "remote.origin.uploadpack", "core.sshCommand", "core.pager"} {
		git(t, dir, "config", name, script)
	}
	t.Chdir(dir)
	for arg, file := range map[string]string{":feeds.yaml": ":feeds.yaml", "HEAD:feeds.yaml": "HEAD:feeds.yaml", "HEAD:packages": "HEAD:packages/feeds/feeds.yaml"} {
		_, err := new(Reader).Read(t.Context(), arg)
		fails(t, arg, err, "the repository lacks the contents of "+file+": it may be a partial clone")
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a program that the repository names was started")
	}
}
