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
	text := testkit.Read(t, filepath.Join(repo, "action.yml"))
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []actionStep
		}
	}
	testkit.OK(t, yaml.Unmarshal([]byte(text), &action))
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
	const login = "github-actions[bot]"
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost && r.URL.Path == "/graphql":
		fmt.Fprintf(w, `{"data": {"viewer": {"login": %q}}}`, login)
	case r.Method == http.MethodGet && r.URL.Path == comments:
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		from := min(100*(page-1), len(g.comments))
		json.NewEncoder(w).Encode(g.comments[from:min(from+100, len(g.comments))])
	case g.readOnly:
		w.WriteHeader(http.StatusForbidden)
	case json.NewDecoder(r.Body).Decode(&comment) != nil || comment["body"] == nil:
		w.WriteHeader(http.StatusUnprocessableEntity)
	case r.Method == http.MethodPost && r.URL.Path == comments:
		comment["id"], comment["user"] = len(g.comments), map[string]string{"login": login}
		g.comments = append(g.comments, comment)
	default:
		if n, _ := fmt.Sscanf(r.Method+r.URL.Path, "PATCH/repos/example/feeds/issues/comments/%d", &id); n == 0 || id >= len(g.comments) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		g.comments[id]["body"] = comment["body"]
	}
}

// set begins another pull request, with a number of comments by somebody else, who quotes those of the action.
func (g *github) set(readOnly bool, comments int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.comments, g.readOnly = []map[string]any{}, readOnly
	for i := range comments {
		g.comments = append(g.comments, map[string]any{"id": i, "body": "<!-- signpost services -->\nA comment", "user": map[string]string{"login": "somebody"}})
	}
}

// bodies returns the texts of all comments.
func (g *github) bodies() (all []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.comments {
		all = append(all, c["body"].(string))
	}
	return all
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

// runner runs the action's steps like a runner of GitHub.
type runner struct {
	t    *testing.T
	temp string // RUNNER_TEMP, where the binary is kept
	path string // PATH, before the action adds to it
	api  string
}

// run runs the steps in a checkout, for a pull request into a base branch or, if that is empty, for a push.
func (r runner) run(checkout, base string, inputs map[string]string) (done job) {
	t := r.t
	t.Helper()
	defaults, steps := readAction(t)
	values := map[string]string{"github.base_ref": base, "github.token": "secret"}
	if base != "" {
		values["github.event.pull_request.number"] = "7"
	}
	for name, value := range defaults {
		if given, ok := inputs[name]; ok {
			value = given
		}
		values["inputs."+name] = strings.Replace(value, "${{ github.token }}", values["github.token"], 1)
	}
	action := testkit.Must(filepath.Abs(repo))(t)
	dir := t.TempDir()
	read := func(name string) string { // a file that steps append to, if they have something to say
		text, _ := os.ReadFile(filepath.Join(dir, name))
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
		command.Dir = checkout
		command.Env = append(os.Environ(), "RUNNER_TEMP="+r.temp, "GITHUB_ACTION_PATH="+action, "GITHUB_API_URL="+r.api, "GITHUB_GRAPHQL_URL="+r.api+"/graphql",
			"GITHUB_REPOSITORY=example/feeds", "GITHUB_SHA="+git(t, checkout, "rev-parse", "HEAD"),
			"PATH="+strings.Join(append(strings.Fields(read("GITHUB_PATH")), r.path), ":"))
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

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository returns a git repository with a commit on the branch main.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "user.name", "Tester")
	git(t, dir, "config", "user.email", "tester@example.com")
	commit(t, dir, "README.md", "Feeds")
	return dir
}

func commit(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Write(t, filepath.Join(dir, name), text)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "Change "+name)
}

// pull checks out the merge of the branch feature into main as a shallow clone, as actions/checkout does for a pull request.
func pull(t *testing.T, dir string) string {
	t.Helper()
	tree := git(t, dir, "merge-tree", "--write-tree", "main", "feature")
	git(t, dir, "update-ref", "refs/pull/7/merge", git(t, dir, "commit-tree", tree, "-p", "main", "-p", "feature", "-m", "Merge"))
	checkout := t.TempDir()
	git(t, checkout, "init", "-q")
	git(t, checkout, "remote", "add", "origin", "file://"+dir)
	git(t, checkout, "fetch", "-q", "--depth=1", "origin", "refs/pull/7/merge")
	git(t, checkout, "checkout", "-q", "--detach", "FETCH_HEAD")
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
	const one = "{value: newest, label: Newest first}"
	const both = one + ", {value: title, label: Title}"
	api := new(github)
	server := httptest.NewServer(api)
	defer server.Close()
	dir := newRepository(t)
	runner := runner{t, t.TempDir(), builtPath(t, false), server.URL}
	inputs := map[string]string{"path": "services"}
	expect := func(what string, done job, failed bool, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(done.log+done.summary, text) {
				t.Errorf("%s: no %q in %+v", what, text, done)
			}
		}
		if done.failed != failed {
			t.Errorf("%s: %+v", what, done)
		}
	}
	expectComment := func(count int, name string) {
		t.Helper()
		all := api.bodies()
		if len(all) != count {
			t.Fatalf("%s: comments %q", name, all)
		}
		testkit.Golden(t, filepath.Join(repo, "testdata", "action", name+".golden"), all[count-1])
	}

	expect("a push without a definition: the path must be wrong", runner.run(dir, "", inputs), true, "lint failed with exit code 3")

	api.set(false, 0)
	git(t, dir, "checkout", "-q", "-b", "feature")
	commit(t, dir, "services/sport.yaml", sportDefinition(both))
	expect("a pull request that adds a file", runner.run(pull(t, dir), "main", inputs), false, "| compatible |")
	expectComment(1, "first-file.md")

	// There are annotations, and the comment says why nothing was compared.
	commit(t, dir, "services/sport.yaml", sportDefinition(both, "      feeds: {name: Feeds, method: GET, mime_type: application/json}\n"))
	expect("a mistake in the file", runner.run(pull(t, dir), "main", inputs), true, "::error file=services/sport.yaml,line=9,", "lint failed with exit code 1")
	expectComment(1, "invalid-file.md")

	// Merged without the mistake. The next one breaks something, in a long discussion. When its job runs, the base branch has
	// moved on: what that added is not reported as missing.
	commit(t, dir, "services/sport.yaml", sportDefinition(both))
	git(t, dir, "branch", "-qf", "main", "feature")
	api.set(false, 150)
	commit(t, dir, "services/sport.yaml", sportDefinition(one, "      https://{{host}}/v1/matches/live: {name: Live, method: post, mime_type: application/json}\n"))
	merged := pull(t, dir)
	git(t, dir, "checkout", "-q", "main")
	commit(t, dir, "services/news.yaml", "base_path: /news\nversions: {v1: {endpoints: {\"https://{{host}}/news/v1/feeds\": {name: News, method: get, mime_type: application/json}}}}\n")
	expect("a breaking change", runner.run(merged, "main", inputs), true, "diff failed with exit code 1")
	expectComment(151, "breaking-change.md")

	// Accepted with a reason, the change passes, and the comment is updated. An absolute path means the same.
	signpost := filepath.Join(runner.temp, "signpost", "signpost")
	compare := exec.Command(signpost, "diff", "main~1:services", "feature:services", "--format", "json")
	compare.Dir = dir
	out, _ := compare.Output() // the exit code is 1
	var changes []struct{ Level, Fingerprint string }
	if err := json.Unmarshal(out, &changes); err != nil || len(changes) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	entries := ""
	for _, c := range changes {
		if c.Level == "breaking" {
			entries += fmt.Sprintf("- {change: %s, reason: The apps are updated}\n", c.Fingerprint)
		}
	}
	git(t, dir, "checkout", "-q", "feature")
	commit(t, dir, "accepted.yaml", entries)
	requests := `203.0.113.7 - - [12/Nov/2026:10:00:00 +0000] "GET /v1/matches HTTP/1.1" 200 512` + "\n" +
		`203.0.113.7 - - [18/Nov/2026:10:00:00 +0000] "GET /v1/matches?sort=title HTTP/1.1" 200 512` + "\n"
	count := exec.Command(signpost, "usage", "main:services", "--log", "-", "--format", "json")
	count.Dir, count.Stdin = dir, strings.NewReader(requests)
	commit(t, dir, "monday.json", string(testkit.Must(count.Output())(t)))
	counting := map[string]string{"path": "services", "usage": "monday.json"}
	expect("a change that is counted", runner.run(pull(t, dir), "main", counting), true, "1 of 2 requests set it (12–18 Nov)")
	expectComment(151, "counted-change.md")
	accepting := map[string]string{"path": "services", "accepted": "accepted.yaml"}
	merged = pull(t, dir)
	expect("an accepted change", runner.run(merged, "main", accepting), false)
	expectComment(151, "accepted-change.md")
	api.set(true, 0)
	expect("a fork, with a read-only token", runner.run(merged, "main", accepting), false, "::notice title=Signpost::The token may not write comments", "accepted")

	api.set(false, 0)
	git(t, dir, "branch", "-q", "release/2", "main~1")
	explicit := map[string]string{"path": filepath.Join(merged, "services"), "base": "release/2", "comment": "false"}
	expect("an explicit base and an absolute path", runner.run(merged, "main", explicit), true, "option-removed", "service-added")
	testkit.Equal(t, "comments", len(api.bodies()), 0)

	if done := runner.run(dir, "", inputs); done.failed || done.summary != "" {
		t.Errorf("a push is linted, but not compared: %+v", done)
	}
}

// TestActionInputs checks that every input is used, and explained in docs/ci.md.
func TestActionInputs(t *testing.T) {
	t.Parallel()
	inputs, steps := readAction(t)
	text := testkit.Read(t, filepath.Join(repo, "docs", "ci.md"))
	for name := range inputs {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/ci.md does not explain the input %q", name)
		}
		if !strings.Contains(fmt.Sprint(steps), "inputs."+name) {
			t.Errorf("no step uses the input %q", name)
		}
	}
}

// TestPreCommitHooks runs the entries of .pre-commit-hooks.yaml on matching files, as pre-commit would.
func TestPreCommitHooks(t *testing.T) {
	t.Parallel()
	var hooks []struct {
		ID, Entry, Language, Files string
		PassFilenames              *bool `yaml:"pass_filenames"`
	}
	testkit.OK(t, yaml.Unmarshal([]byte(testkit.Read(t, filepath.Join(repo, ".pre-commit-hooks.yaml"))), &hooks))
	if files := regexp.MustCompile(hooks[0].Files); !files.MatchString("services/feeds.yaml") || files.MatchString("docker-compose.yaml") {
		t.Errorf("%s applies to the files %s", hooks[0].ID, files)
	}
	if pass := hooks[1].PassFilenames; pass == nil || *pass {
		t.Errorf("%s gets file names", hooks[1].ID)
	}
	good := sportDefinition("{value: newest, label: Newest first}")
	dir := newRepository(t)
	commit(t, dir, "feeds.yaml", good)
	for i, test := range []struct{ id, args, broken string }{
		{"signpost-lint", "feeds.yaml", strings.Replace(good, "method: get", "method: GET", 1)},
		{"signpost-diff", "HEAD:feeds.yaml feeds.yaml", strings.Replace(good, "method: get", "method: post", 1)},
	} {
		if hooks[i].ID != test.id || hooks[i].Language != "golang" {
			t.Errorf("hook %+v", hooks[i])
		}
		for definition, want := range map[string]bool{good: true, test.broken: false} {
			testkit.Write(t, filepath.Join(dir, "feeds.yaml"), definition)
			command := exec.Command("signpost", strings.Fields(hooks[i].Entry + " " + test.args)[1:]...) // testscript.Main put it on the PATH
			command.Dir = dir
			if out, err := command.CombinedOutput(); (err == nil) != want {
				t.Errorf("%s: %v\n%s", test.id, err, out)
			}
		}
	}
}
