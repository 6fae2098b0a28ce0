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
	for name, want := range map[string]string{
		"HEAD:feeds.yaml": "HEAD feeds.yaml", "origin/main:a/b:c.yaml": "origin/main a/b:c.yaml", ":feeds.yaml": ":0 feeds.yaml", ":2:feeds.yaml": ":2 feeds.yaml",
		":4:feeds.yaml": ":0 4:feeds.yaml", "main@{2026-01-01 10:00}:a.js": "main@{2026-01-01 10:00} a.js", "HEAD:": "HEAD ",
	} {
		if revision, path := cutRevision(name); revision+" "+path != want {
			t.Errorf("%s: %s, %s", name, revision, path)
		}
	}
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
	dir := tree(t, map[string]string{"feeds.yaml": service("root"), "packages/feeds/feeds.yaml": service("package"), "packages/feeds/sub/more.yaml": service("more"), "plain.yaml": service("plain"),
		"packages/feeds/package.json": `{"name": "x"}`, "packages/feeds/node_modules/x.yaml": service("x"), "packages/feeds/.hidden.yaml": service("x")})
	testkit.OK(t, os.Symlink("feeds.yaml", filepath.Join(dir, "packages", "feeds", "link.yaml")))
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	return dir
}

// servicesIn returns the names of the documents with the services in them.
func servicesIn(documents []Document) string {
	var all []string
	for _, d := range documents {
		line, _, _ := strings.Cut(string(d.Text), "\n")
		all = append(all, d.Name+" "+d.Path+" "+strings.TrimPrefix(line, "service: "))
	}
	return strings.Join(all, ", ")
}

// TestReadRevisionPath checks that REV:path means what it means in git.
func TestReadRevisionPath(t *testing.T) {
	dir := repository(t)
	t.Chdir(filepath.Join(dir, "packages", "feeds"))
	write(t, service("staged"), dir, "feeds.yaml")
	write(t, service("staged package"), dir, "packages/feeds/feeds.yaml")
	git(t, dir, "add", ".")
	write(t, service("unsaved"), dir, "feeds.yaml")
	for _, test := range []struct{ arg, want, err string }{
		{arg: "HEAD:feeds.yaml", want: "HEAD:feeds.yaml feeds.yaml root"},
		{arg: "HEAD:./feeds.yaml", want: "HEAD:./feeds.yaml feeds.yaml package"},
		{arg: "HEAD:../../feeds.yaml", want: "HEAD:../../feeds.yaml feeds.yaml root"},
		{arg: "main:packages/feeds/feeds.yaml", want: "main:packages/feeds/feeds.yaml feeds.yaml package"},
		{arg: ":feeds.yaml", want: ":feeds.yaml feeds.yaml staged"},
		{arg: ":0:./feeds.yaml", want: ":0:./feeds.yaml feeds.yaml staged package"},
		{arg: "HEAD:packages/feeds/", want: "HEAD:packages/feeds/feeds.yaml feeds.yaml package, HEAD:packages/feeds/sub/more.yaml sub/more.yaml more"},
		{arg: "HEAD:.", want: "HEAD:./feeds.yaml feeds.yaml package, HEAD:./sub/more.yaml sub/more.yaml more"},
		{arg: "HEAD:../..", want: "HEAD:../../feeds.yaml feeds.yaml root, HEAD:../../packages/feeds/feeds.yaml packages/feeds/feeds.yaml package, " +
			"HEAD:../../packages/feeds/sub/more.yaml packages/feeds/sub/more.yaml more, HEAD:../../plain.yaml plain.yaml plain"},
		{arg: ":./sub", want: ":./sub/more.yaml more.yaml more"},
		{arg: ":packages", want: ":packages/feeds/feeds.yaml feeds/feeds.yaml staged package, :packages/feeds/sub/more.yaml feeds/sub/more.yaml more"},

		{arg: "HEAD:sub/more.yaml", err: "does not exist; did you mean HEAD:packages/feeds/sub/more.yaml? A path is relative to the root of the repository unless it begins with ./"},
		{arg: ":sub/more.yaml", err: "does not exist; did you mean :packages/feeds/sub/more.yaml? A path is relative to the root of the repository unless it begins with ./"},
		{arg: "HEAD:other.yaml", err: "does not exist"},
		{arg: "nowhere:feeds.yaml", err: "Not a valid object name nowhere"},
		{arg: ":1:feeds.yaml", err: "does not exist"},
	} {
		documents, err := new(Reader).Read(t.Context(), test.arg)
		if test.err == "" {
			if got := servicesIn(documents); err != nil || got != test.want {
				t.Errorf("%s: %s, %v", test.arg, got, err)
			}
			continue
		}
		want, missing := strings.CutPrefix(test.err, "does not exist")
		if err == nil || !strings.HasSuffix(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("read definition %q: neither a file nor a git revision: ", test.arg)) || errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%s: %v", test.arg, err)
		}
	}
}

// TestReadConflict checks that a file with a merge conflict is not read from an arbitrary stage.
func TestReadConflict(t *testing.T) {
	dir := repository(t)
	t.Chdir(dir)
	git(t, dir, "checkout", "-q", "-b", "theirs")
	write(t, service("theirs"), dir, "feeds.yaml")
	git(t, dir, "commit", "-q", "-a", "-m", "theirs")
	git(t, dir, "checkout", "-q", "main")
	write(t, service("ours"), dir, "feeds.yaml")
	git(t, dir, "commit", "-q", "-a", "-m", "ours")
	git(t, dir, "merge", "theirs")
	for _, arg := range []string{":feeds.yaml", ":0:feeds.yaml", ":."} {
		_, err := new(Reader).Read(t.Context(), arg)
		want := fmt.Sprintf("read definition %q: feeds.yaml has a merge conflict: resolve it, or name :2:feeds.yaml (ours) or :3:feeds.yaml (theirs)", arg)
		if err == nil || err.Error() != want || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for arg, want := range map[string]string{":1:feeds.yaml": "root", ":2:feeds.yaml": "ours", ":3:feeds.yaml": "theirs", ":plain.yaml": "plain"} {
		documents, err := new(Reader).Read(t.Context(), arg)
		if got := servicesIn(documents); err != nil || !strings.HasSuffix(got, " "+want) {
			t.Errorf("%s: %s, %v", arg, got, err)
		}
	}
}

// TestConfirmNew checks when a REV:path that does not exist is new, and when it is a mistake.
func TestConfirmNew(t *testing.T) {
	dir := repository(t)
	t.Chdir(filepath.Join(dir, "packages", "feeds"))
	write(t, definitionText, dir, "packages/feeds/new.yaml")
	for _, test := range []struct{ old, new, spelling string }{
		{"main:packages/feeds/new.yaml", "new.yaml", ""},
		{"main:./new.yaml", "./new.yaml", ""},
		{"main:./new.yaml", filepath.Join(dir, "packages", "feeds", "new.yaml"), ""},
		{"main:./new.yaml", ":./new.yaml", ""},
		{"main:sub/more.yaml", "sub/more.yaml", "main:packages/feeds/sub/more.yaml"},
		{"main:packages/feeds/fedes.yaml", "feeds.yaml", "main:packages/feeds/feeds.yaml"},
		{"main:packages/feeds/fedes.yaml", filepath.Join(dir, "packages", "feeds", "feeds.yaml"), "main:packages/feeds/feeds.yaml"},
		{"main:packages/feed", "../feeds", "main:packages/feeds"},
		{":fedes.yaml", "../../feeds.yaml", ":feeds.yaml"},
		{"main:fedes.yaml", "HEAD:feeds.yaml", "main:feeds.yaml"},
		{"main:fedes.yaml", ":./feeds.yaml", "main:packages/feeds/feeds.yaml"},
	} {
		err := new(Reader).ConfirmNew(t.Context(), test.old, test.new)
		want := ""
		if test.spelling != "" {
			want = fmt.Sprintf("read definition %q: it does not exist there: did you mean %s?", test.old, test.spelling)
		}
		if fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s, %s: %v", test.old, test.new, err)
		}
	}
	for _, arg := range []string{"-", "https://me:secret@feeds.example.com/v1/endpoints-manifest", "oci://me:secret@oci.example.com/feeds:prod",
		filepath.Join(t.TempDir(), "outside.yaml"), "../../../outside.yaml"} {
		if err := new(Reader).ConfirmNew(t.Context(), "main:fedes.yaml", arg); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", arg, err)
		}
	}
}
