package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/cli"
	"signpost/internal/testkit"
)

// checkJSON fails unless every line is a JSON object with a level and a message.
func checkJSON(t *testing.T, name, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: the log is empty", name)
	}
	for line := range strings.Lines(text) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "" || entry.Msg == "" {
			t.Errorf("%s: invalid log line: %q", name, line)
		}
		if strings.Contains(line, `"duration"`) || strings.Contains(line, `"delay"`) {
			t.Errorf("%s: a duration has no unit: %s", name, line)
		}
	}
}

// TestJSONLog checks that with --log-format json all output is JSON, even if the start fails.
func TestJSONLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad, good := filepath.Join(dir, "bad.json"), filepath.Join(dir, "good.json")
	testkit.Write(t, bad, `{"versions": 1}`)
	testkit.Write(t, good, strings.Replace(feeds("one", 2), "https:", "http:", 1)) // a warning
	formats := []string{"--log-format json", "--log-format=json", ""}
	for name, test := range map[string]struct {
		args string
		env  string
		code int
		want string
	}{
		"findings":         {bad, "", 1, `"rule":"wrong-type"`},
		"no address":       {good + " --listen nowhere:1", "", 3, "listen on"},
		"an unknown flag":  {"--wrong", "", 2, "unknown flag: --wrong"},
		"a wrong value":    {good + " --base-path x", "", 2, "--base-path"},
		"a wrong variable": {good, "SIGNPOST_ACCESS_LOG=perhaps", 2, "SIGNPOST_ACCESS_LOG"},
		"a misspelt one":   {filepath.Join(dir, "nowhere.json"), "SIGNPOST_ALOWED_HOST=x", 3, "did you mean SIGNPOST_ALLOWED_HOST?"},
		"a wrong feature":  {good + " --feature x", "", 2, "--feature"},
	} {
		format := formats[0]
		formats = append(formats[1:], format)
		env := map[string]string{"SIGNPOST_LISTEN": "127.0.0.1:0"}
		if format == "" {
			env["SIGNPOST_LOG_FORMAT"] = "json"
		}
		if name, value, ok := strings.Cut(test.env, "="); ok {
			env[name] = value
		}
		var out testkit.Buffer
		c := cli.CLI{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			LookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
			Environ:   func() []string { return []string{test.env} },
		}
		code := c.Main(strings.Fields("serve " + test.args + " " + format))
		checkJSON(t, name, out.String())
		if code != test.code || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: exit %d, %s", name, code, out.String())
		}
	}

	p := startServe(t, good, talkative(t), "--access-log", "--log-level", "debug")
	if r, err := fetch(http.DefaultClient, p.url+manifestV1, "Feeds.Example.com:80"); err != nil || r.StatusCode != http.StatusOK {
		t.Error(r, err)
	}
	p.get(t, "/nowhere")
	waitFor(t, "the access log", func() bool { return len(p.logged("request")) == 2 })
	line := p.logged("request")[0]
	if line["level"] != "INFO" || line["host"] != "Feeds.Example.com:80" || line["manifest_host"] != "feeds.example.com" || line["status"] != 200.0 || line["duration_seconds"] == nil {
		t.Errorf("the access log has %v", line)
	}
	p.log.WaitFor(t, "Unsolicited response")
	if n := len(p.logged(openServer)); n != 1 {
		t.Errorf("a server that accepts all hosts logs %d warnings", n)
	}
	p.stop(t)
	checkJSON(t, "a whole run", p.log.String())
}

// talkative returns the address of a source that sends more than its response, which makes net/http write to the standard
// logger.
func talkative(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		text := service("/more", "more", 1)
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\n\r\n", len(text), text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/feeds.json"
}

// openServer is the warning of a server that accepts requests for all hosts.
const openServer = "requests for any host are accepted, and manifests contain it: declare hosts, or set --allowed-host or --public-host to your own hosts"
