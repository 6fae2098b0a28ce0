package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

const usageDefinition = `
enable: [authentication]
versions:
  v1:
    endpoints:
      https://{{host}}/v1/films:
        name: Films
        method: get
        mime_type: application/json
        modifiers:
          - {kind: number, id: limit, name: Page size, key: limit, label: Limit}
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, options: [{value: newest, label: Newest}]}
      https://{{host}}/v1/films/{{id}}/media: {name: Media, method: get, mime_type: application/json}
`

func usageLine(uri string) string {
	return fmt.Sprintf("203.0.113.7 - - [18/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" 200 512 \"-\" \"App/1.0\"\n", uri)
}

// secretLog returns a log with a secret in every place of every format, good lines and bad ones.
func secretLog(secret string) string {
	var log strings.Builder
	ctx := base64.RawURLEncoding.EncodeToString([]byte(`{"plugin-login-flow.access_token":"` + secret + `"}`))
	for _, place := range []string{
		"/v1/films/%s/media", "/v1/%s", "/%s/v1/films", "/v1/films?sort=%s", "/v1/films?limit=%s", "/v1/films?utm_source=%s", "/v1/films?%s",
		"/v1/films?a[%s]=1", "/v1/films/7/media?ctx=%s", "/v1/films/7/media?ctx=" + ctx, "/v1/films#%s", "https://%s/v1/films",
		"https://u:%s@a.example/v1/films", "%s", "/v1/films?sort=newest%26%s",
	} {
		uri := strings.ReplaceAll(place, "%s", secret)
		line := usageLine(uri)
		log.WriteString(line + strings.Replace(line, "HTTP", secret, 1) + strings.Replace(line, "- -", "- "+secret, 1) + strings.Replace(line, "200", secret, 1))
		fmt.Fprintf(&log, `{"method":"GET","uri":%q,"host":%q,"status":200,%q:1,"headers":{"Authorization":[%q]}}`+"\n", uri, secret+".example", secret, secret)
		fmt.Fprintf(&log, `{"method":%q,"uri":%q,"status":%q,"time":%q}`+"\n", secret, uri, secret, secret)
	}
	log.WriteString(secret + " " + secret + "\n{\"" + secret + "\":\"" + secret + "\"}\n" + strings.Repeat(secret, 128<<10/len(secret)+1) + "\n" +
		`{"log":{"` + secret + `":[],"entries":[{"request":{"method":"` + secret + `","url":"` + secret + `"}}]}}` + "\n" +
		`{"log":{"entries":"` + secret + `"}}` + "\n" +
		`{"signpost_usage":1,"requests":1,"from":"` + secret + `","unread":{"` + secret + `":1},"unmatched":{"/` + secret + `":1,"` + secret + `":1},"endpoints":[` +
		`{"service":"/","version":"v1","url":"https://{{host}}/v1/films","keys":{"` + secret + `":{"present":1}},"undeclared":{"[` + secret + `]":1},` +
		`"params":{"` + secret + `":{"set":1},"sort":{"options":{"` + secret + `":1}}}},{"url":"https://{{host}}/` + secret + `","requests":1}]}` + "\n")
	return log.String()
}

// TestUsageSecrets looks for the secrets of a log in everything that is printed about it.
func TestUsageSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3tValue"
	dir := t.TempDir()
	feeds, changed, log := filepath.Join(dir, "feeds.yaml"), filepath.Join(dir, "changed.yaml"), filepath.Join(dir, "access.log")
	testkit.Write(t, feeds, usageDefinition)
	testkit.Write(t, changed, strings.NewReplacer("key: limit", "key: count", "newest", "title", "/media", "/clips").Replace(usageDefinition))
	testkit.Write(t, log, secretLog(secret))
	for _, args := range [][]string{
		{"usage", feeds, "--log", log}, {"usage", feeds, "--log", log, "--format", "json"},
		{"diff", feeds, changed, "--usage", log}, {"diff", feeds, changed, "--usage", log, "--format", "markdown"},
		{"diff", feeds, changed, "--usage", log, "--format", "json"},
	} {
		out, errs, code := runCLI(args...)
		if code > exitFindings || !strings.Contains(out, "/v1/films") {
			t.Errorf("%s: exit status %d\n%s%s", args, code, out, errs)
		}
		if reasons := strings.Count(errs, "such as"); reasons < 4 {
			t.Errorf("%s: only %d reasons are shown: %s", args, reasons, errs)
		}
		encoded := []string{base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))}
		for _, text := range append(encoded, secret, strings.ToLower(secret)) {
			if strings.Contains(out+errs, text) {
				t.Errorf("%s prints %q:\n%s%s", args, text, out, errs)
			}
		}
	}
}

// TestUsageOnATerminal reads a log that does not end, until somebody presses ^C.
func TestUsageOnATerminal(t *testing.T) {
	t.Parallel()
	control, tty := openTerminal(t)
	var out, errs testkit.Buffer
	go io.Copy(&errs, control)
	feeds := filepath.Join(t.TempDir(), "feeds.yaml")
	testkit.Write(t, feeds, usageDefinition)
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, "signpost"), "usage", feeds, "--log", "-")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, tty, onTerminal()
	in := testkit.Must(cmd.StdinPipe())(t)
	testkit.OK(t, cmd.Start())
	go func() {
		for lines := []byte(strings.Repeat(usageLine("/v1/films?limit=1"), 500)); ; {
			if _, err := in.Write(lines); err != nil {
				return
			}
		}
	}()
	progress := regexp.MustCompile(`\r\x1b\[K[1-9]\d* MB`)
	testkit.Eventually(t, "there is progress", func() bool { return progress.MatchString(errs.String()) })
	testkit.Must(control.WriteString("\x03"))(t)
	cmd.Wait()
	testkit.Equal(t, "exit status", cmd.ProcessState.ExitCode(), exitInterrupted)
	if !regexp.MustCompile(`^[1-9][\d,]* requests, 18 Nov\n(?s:.*) set limit\n`).MatchString(out.String()) {
		t.Errorf("standard output is %s", out.String())
	}
	errs.WaitFor(t, "\r\x1b[Ksignpost: interrupted: this is what was counted until then\r\n")
}
