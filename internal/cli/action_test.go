package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"signpost/internal/testkit"
)

// actionStep is a step of action.yml.
type actionStep struct {
	Name, ID, If, Uses, Shell, Run string
	Env                            map[string]string
	With                           map[string]string
}

// readAction reads the inputs with their defaults, and the steps, of action.yml.
func readAction(t *testing.T) (inputs map[string]string, steps []actionStep) {
	t.Helper()
	text := readFile(t, filepath.Join(repo, "action.yml"))
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []actionStep
		}
	}
	if err := yaml.Unmarshal([]byte(text), &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) == 0 {
		t.Fatalf("not a composite action: %+v", action)
	}
	inputs = make(map[string]string)
	for name, input := range action.Inputs {
		inputs[name] = input.Default
	}
	return inputs, action.Runs.Steps
}

// github implements the parts of GitHub's API that store the comments of a pull request.
type github struct {
	mu       sync.Mutex
	comments []map[string]any
	readOnly bool // as for a pull request from a fork
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var comment map[string]any
	var id, page int
	const comments = "/repos/example/feeds/issues/7/comments"
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodGet && r.URL.Path == comments:
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		from := min(100*(page-1), len(g.comments))
		json.NewEncoder(w).Encode(g.comments[from:min(from+100, len(g.comments))])
	case g.readOnly:
		w.WriteHeader(http.StatusForbidden)
	case json.NewDecoder(r.Body).Decode(&comment) != nil || comment["body"] == nil:
		w.WriteHeader(http.StatusUnprocessableEntity)
	case r.Method == http.MethodPost && r.URL.Path == comments:
		comment["id"] = len(g.comments)
		g.comments = append(g.comments, comment)
	default:
		if n, _ := fmt.Sscanf(r.Method+r.URL.Path, "PATCH/repos/example/feeds/issues/comments/%d", &id); n == 0 || id >= len(g.comments) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		g.comments[id]["body"] = comment["body"]
	}
}

// set begins another pull request, with a number of comments.
func (g *github) set(readOnly bool, comments int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.comments, g.readOnly = []map[string]any{}, readOnly
	for i := range comments {
		g.comments = append(g.comments, map[string]any{"id": i, "body": "A comment"})
	}
}

// get returns the comments.
func (g *github) get() (bodies []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, comment := range g.comments {
		bodies = append(bodies, comment["body"].(string))
	}
	return bodies
}

// workflow runs the action's steps like a runner, in the current state of a repository.
type workflow struct {
	t            *testing.T
	repository   string
	temp         string // RUNNER_TEMP, where the binary is kept
	path         string // PATH, before the action adds to it
	api          string
	base, number string // of the pull request; empty for a push
	inputs       map[string]string
}

// job is the result of a run.
type job struct {
	failed       bool
	log, summary string
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// evaluate evaluates an expression of ||, && and ==, in that order, without brackets.
func evaluate(values map[string]string, text string) string {
	for alternative := range strings.SplitSeq(text, " || ") {
		result := ""
		for term := range strings.SplitSeq(alternative, " && ") {
			left, right, compared := strings.Cut(term, " == ")
			if result = values[left]; compared && result != strings.Trim(right, "'") {
				result = ""
			}
			if result == "" {
				break
			}
		}
		if result != "" {
			return result
		}
	}
	return ""
}

func (w *workflow) run() (done job) {
	w.t.Helper()
	t := w.t
	defaults, steps := readAction(t)
	values := map[string]string{"github.base_ref": w.base, "github.event.pull_request.number": w.number, "github.token": "secret"}
	for name, value := range defaults {
		if given, ok := w.inputs[name]; ok {
			value = given
		}
		values["inputs."+name] = strings.Replace(value, "${{ github.token }}", values["github.token"], 1)
	}
	action, err := filepath.Abs(repo)
	if err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "rev-parse", "HEAD")
	git.Dir = w.repository
	sha, err := git.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	read := func(name string) string { // a file that steps append to
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, step := range steps {
		if step.Uses != "" || step.If != "" && evaluate(values, step.If) == "" {
			continue
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %q has an expression in its script: a branch could be called $(…)", step.Name)
		}
		// as documented for shell: bash
		command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		command.Dir = w.repository
		command.Env = append(os.Environ(), "RUNNER_TEMP="+w.temp, "GITHUB_ACTION_PATH="+action, "GITHUB_API_URL="+w.api,
			"GITHUB_REPOSITORY=example/feeds", "GITHUB_SHA="+strings.TrimSpace(string(sha)),
			"PATH="+strings.Join(append(strings.Fields(read("GITHUB_PATH")), w.path), ":"))
		for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH"} {
			command.Env = append(command.Env, name+"="+filepath.Join(dir, name))
		}
		for name, text := range step.Env {
			command.Env = append(command.Env, name+"="+expression.ReplaceAllStringFunc(text, func(e string) string {
				return evaluate(values, expression.FindStringSubmatch(e)[1])
			}))
		}
		out, err := command.CombinedOutput()
		done.log += string(out)
		if done.failed = err != nil; done.failed {
			break
		}
		values["steps."+step.ID+".outcome"] = "success"
		for line := range strings.Lines(read("GITHUB_OUTPUT")) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			values["steps."+step.ID+".outputs."+name] = value
		}
		os.Remove(filepath.Join(dir, "GITHUB_OUTPUT"))
	}
	done.summary = read("GITHUB_STEP_SUMMARY")
	return done
}

// actionRepository is the repository in which pull requests are built, and from which a runner fetches.
type actionRepository struct {
	t   *testing.T
	dir string
}

func newActionRepository(t *testing.T) *actionRepository {
	r := &actionRepository{t: t, dir: t.TempDir()}
	r.git(r.dir, "init", "-q", "-b", "main")
	r.git(r.dir, "config", "user.name", "Tester")
	r.git(r.dir, "config", "user.email", "tester@example.com")
	r.commit("README.md", "Feeds")
	return r
}

func (r *actionRepository) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *actionRepository) commit(name, text string) {
	r.t.Helper()
	writeFile(r.t, filepath.Join(r.dir, name), text)
	r.git(r.dir, "add", "-A")
	r.git(r.dir, "commit", "-q", "--allow-empty", "-m", "Change "+name)
}

// pull checks out the merge of a branch into a base branch as a shallow clone, as actions/checkout does for a pull
// request.
func (r *actionRepository) pull(base, branch string) string {
	r.t.Helper()
	tree := r.git(r.dir, "merge-tree", "--write-tree", base, branch)
	r.git(r.dir, "update-ref", "refs/pull/7/merge", r.git(r.dir, "commit-tree", tree, "-p", base, "-p", branch, "-m", "Merge"))
	checkout := r.t.TempDir()
	r.git(checkout, "init", "-q")
	r.git(checkout, "remote", "add", "origin", "file://"+r.dir)
	r.git(checkout, "fetch", "-q", "--depth=1", "origin", "refs/pull/7/merge")
	r.git(checkout, "checkout", "-q", "--detach", "FETCH_HEAD")
	return checkout
}

// sportDefinition has shared modifiers, as real definitions do.
func sportDefinition(options string, more ...string) string {
	return `modifiers:
  sort: {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, options: [` + options + `]}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/matches: {name: Matches, method: get, mime_type: application/json, modifiers: [sort]}
      https://{{host}}/v1/teams: {name: Teams, method: get, mime_type: application/json, modifiers: [sort]}
      https://{{host}}/v1/players: {name: Players, method: get, mime_type: application/json, modifiers: [sort]}
` + strings.Join(more, "")
}

// TestAction runs the steps of action.yml for a series of pull requests, against a real git repository and an API that
// stores comments.
func TestAction(t *testing.T) {
	t.Parallel()
	for _, need := range []string{"bash", "curl", "jq", "git"} {
		testkit.Find(t, need, "the GitHub Action")
	}
	const both = "{value: newest, label: Newest first}, {value: title, label: Title}"
	const one = "{value: newest, label: Newest first}"
	api := new(github)
	server := httptest.NewServer(api)
	defer server.Close()
	r := newActionRepository(t)
	runner := workflow{t: t, temp: t.TempDir(), path: builtPath(t, false), api: server.URL}
	start := func(repository, base string, inputs map[string]string) job {
		t.Helper()
		w := runner
		w.repository, w.base, w.inputs = repository, base, inputs
		if base != "" {
			w.number = "7"
		}
		return w.run()
	}
	inputs := map[string]string{"path": "services"}
	wantComment := func(comment int, name string) {
		t.Helper()
		bodies := api.get()
		if len(bodies) != comment+1 {
			t.Fatalf("%s: %d comments", name, len(bodies))
		}
		testkit.Golden(t, filepath.Join(repo, "testdata", "action", name+".golden"), bodies[comment])
	}

	// A push without a definition fails, because the path must be wrong.
	if done := start(r.dir, "", inputs); !done.failed || !strings.Contains(done.log, "lint failed with exit code 3") {
		t.Errorf("without definitions: %+v", done)
	}

	// The first pull request adds a file.
	api.set(false, 0)
	r.git(r.dir, "checkout", "-q", "-b", "feature")
	r.commit("services/sport.yaml", sportDefinition(both))
	done := start(r.pull("main", "feature"), "main", inputs)
	if done.failed {
		t.Errorf("the first file: %s", done.log)
	}
	wantComment(0, "first-file.md")
	if !strings.Contains(done.summary, "| compatible |") {
		t.Errorf("the summary of the first file: %s", done.summary)
	}

	// The same pull request with a mistake in the file: there are annotations, and the comment says why nothing was
	// compared.
	r.commit("services/sport.yaml", sportDefinition(both, "      feeds: {name: Feeds, method: GET, mime_type: application/json}\n"))
	done = start(r.pull("main", "feature"), "main", inputs)
	if !done.failed || !strings.Contains(done.log, "::error file=services/sport.yaml,line=9,") || !strings.Contains(done.log, "lint failed with exit code 1") {
		t.Errorf("an invalid file: %+v", done)
	}
	wantComment(0, "invalid-file.md")

	// Merged without the mistake. The next one breaks something, in a long discussion. When its job runs, the base branch has
	// moved on: what that added is not reported as missing.
	r.commit("services/sport.yaml", sportDefinition(both))
	r.git(r.dir, "branch", "-qf", "main", "feature")
	api.set(false, 150)
	r.commit("services/sport.yaml", sportDefinition(one, "      https://{{host}}/v1/matches/live: {name: Live, method: post, mime_type: application/json}\n"))
	merged := r.pull("main", "feature")
	r.git(r.dir, "checkout", "-q", "main")
	r.commit("services/news.yaml", "base_path: /news\nversions: {v1: {endpoints: {\"https://{{host}}/news/v1/feeds\": {name: News, method: get, mime_type: application/json}}}}\n")
	done = start(merged, "main", inputs)
	if !done.failed || !strings.Contains(done.log, "diff failed with exit code 1") || strings.Contains(done.log, "lint failed") {
		t.Errorf("a breaking change: %+v", done)
	}
	wantComment(150, "breaking-change.md")

	// Accepted with a reason, the change passes, and the comment is updated.
	entries := ""
	compare := exec.Command(filepath.Join(runner.temp, "signpost", "signpost"), "diff", "main~1:services", "feature:services", "--format", "json")
	compare.Dir = r.dir
	out, _ := compare.Output() // the exit code is 1
	var changes []struct{ Level, Fingerprint string }
	if err := json.Unmarshal(out, &changes); err != nil || len(changes) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range changes {
		if c.Level == "breaking" {
			entries += fmt.Sprintf("- {change: %s, reason: The apps are updated}\n", c.Fingerprint)
		}
	}
	r.git(r.dir, "checkout", "-q", "feature")
	r.commit("accepted.yaml", entries)
	accepting := map[string]string{"path": "services", "accepted": "accepted.yaml"}
	merged = r.pull("main", "feature")
	if done := start(merged, "main", accepting); done.failed {
		t.Errorf("an accepted change: %+v", done)
	}
	wantComment(150, "accepted-change.md")
	// In a fork, the token is read-only. That does not fail the job.
	api.set(true, 0)
	done = start(merged, "main", accepting)
	if done.failed || !strings.Contains(done.log, "::notice title=Signpost::The token may not write comments") || !strings.Contains(done.summary, "accepted") {
		t.Errorf("a fork: %+v", done)
	}

	// Another base branch differs from main: nothing has changed, so there is nothing to report.
	r.git(r.dir, "branch", "-q", "release/2")
	r.git(r.dir, "checkout", "-q", "-b", "backport")
	r.commit("README.md", "A backport")
	api.set(false, 0)
	merged = r.pull("release/2", "backport")
	done = start(merged, "release/2", inputs)
	if done.failed || !strings.Contains(done.summary, "No changes.") {
		t.Errorf("another base branch: %+v", done)
	}
	// Against main, there are changes. An absolute path means the same as a relative one.
	done = start(merged, "release/2", map[string]string{"path": filepath.Join(merged, "services"), "base": "main", "comment": "false"})
	if !done.failed || !strings.Contains(done.summary, "option-removed") || !strings.Contains(done.summary, "service-removed") {
		t.Errorf("an explicit base: %+v", done)
	}
	if bodies := api.get(); len(bodies) > 0 {
		t.Errorf("comments were written: %q", bodies)
	}

	// A push is linted, but not compared.
	if done := start(r.dir, "", inputs); done.failed || done.summary != "" {
		t.Errorf("a push: %+v", done)
	}
}

// TestActionInputs checks that every input is used, and explained in docs/ci.md.
func TestActionInputs(t *testing.T) {
	t.Parallel()
	inputs, steps := readAction(t)
	text := readFile(t, filepath.Join(repo, "docs", "ci.md"))
	for name := range inputs {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/ci.md does not explain the input %q", name)
		}
		used := slices.ContainsFunc(steps, func(s actionStep) bool {
			return strings.Contains(fmt.Sprint(s.Env, s.If, s.With), "inputs."+name)
		})
		if !used {
			t.Errorf("no step uses the input %q", name)
		}
	}
}

// TestPreCommitHooks runs the entries of .pre-commit-hooks.yaml on matching files, as pre-commit would.
func TestPreCommitHooks(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join(repo, ".pre-commit-hooks.yaml"))
	var hooks []struct {
		ID, Name, Entry, Language, Files string
		PassFilenames                    *bool `yaml:"pass_filenames"`
	}
	if err := yaml.Unmarshal([]byte(text), &hooks); err != nil {
		t.Fatal(err)
	}
	r := newActionRepository(t)
	r.commit("feeds.yaml", sportDefinition("{value: newest, label: Newest first}, {value: title, label: Title}"))
	good, broken := sportDefinition("{value: newest, label: Newest first}, {value: title, label: Title}, {value: rating, label: Rating}"), sportDefinition("{value: newest, label: Newest first}")
	for _, hook := range hooks {
		if hook.Language != "golang" || hook.Name == "" {
			t.Errorf("hook %+v", hook)
		}
		args := strings.Fields(hook.Entry)[1:]
		bad := broken
		switch hook.ID {
		case "signpost-lint":
			if !regexp.MustCompile(hook.Files).MatchString("services/feeds.yaml") || regexp.MustCompile(hook.Files).MatchString("docker-compose.yaml") {
				t.Errorf("%s applies to the files %s", hook.ID, hook.Files)
			}
			args, bad = append(args, "feeds.yaml"), strings.Replace(broken, "method: get", "method: GET", 1)
		case "signpost-diff":
			if hook.PassFilenames == nil || *hook.PassFilenames {
				t.Errorf("%s gets file names", hook.ID)
			}
			args = append(args, "HEAD:feeds.yaml", "feeds.yaml")
		default:
			t.Errorf("the test does not support hook %s", hook.ID)
		}
		for definition, want := range map[string]bool{good: true, bad: false} {
			writeFile(t, filepath.Join(r.dir, "feeds.yaml"), definition)
			command := exec.Command("signpost", args...) // testscript.Main put it on the PATH
			command.Dir = r.dir
			out, err := command.CombinedOutput()
			if (err == nil) != want {
				t.Errorf("%s: %v\n%s", hook.ID, err, out)
			}
		}
	}
}
