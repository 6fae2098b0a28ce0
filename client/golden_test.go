package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost"
	"signpost/internal/testkit"
)

// TestCheckServices checks services that exist only in testdata, and compares results and requests. An archive has
//
//   - in its comment, options of the check: address, param, context, follow, ignore, strict, registered, send-to, limit, schema, an
//     endpoint with its Values as JSON, and checks, the ones whose results are shown,
//   - endpoints, a line for each: a URL, and fields that differ from a plain get endpoint,
//   - responses, named by URL (any query if it ends in a question mark), by path if they are on every host, and by a request header that they depend on. They begin with
//     a status and, if the response is not complete, with what happens: abort, cut, stall, endless; gzip compresses the body. Feeds need only a body.
//     BASE is the origin of the service, ORIGIN that of the app, MANIFEST the manifest of the endpoints, LATIN1 a letter that is
//     not UTF-8.
//
// Every address of a manifest in an archive is checked.
func TestCheckServices(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive := testkit.Must(txtar.ParseFile(file))(t)
			n := &services{t: t, opts: CheckOptions{
				Options: Options{Timeout: 10 * time.Minute}, Params: map[string]string{}, Context: map[string]string{}, Endpoints: map[string]Values{},
			}}
			n.opts.Transport = n
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "results" || f.Name == "requests" })
			for line := range strings.Lines(string(archive.Comment)) {
				n.set(strings.TrimSpace(line))
			}
			for _, f := range archive.Files {
				n.add(f)
			}
			if n.addresses == nil {
				n.addresses = []string{address}
			}
			var results []byte
			for _, address := range n.addresses {
				results = append(results, n.format(check(t, address, n.opts))...)
			}
			slices.Sort(n.requests)
			requests := []byte(strings.Join(n.requests, ""))
			archive.Files = append(archive.Files, txtar.File{Name: "results", Data: results}, txtar.File{Name: "requests", Data: requests})
			testkit.Golden(t, file, txtar.Format(archive))
		})
	}
}

// services are the services of an archive. They are also the transport that reaches them.
type services struct {
	t         *testing.T
	opts      CheckOptions
	addresses []string
	checks    []string
	endpoints string
	responses []response

	mu       sync.Mutex
	requests []string
}

type response struct {
	url, header, value string // of the request
	text               string
}

// set sets an option of the check.
func (s *services) set(line string) {
	option, value, _ := strings.Cut(line, " ")
	name, given, _ := strings.Cut(value, "=")
	switch option {
	case "#", "":
	case "address":
		s.addresses = append(s.addresses, value)
	case "checks":
		s.checks = strings.Fields(value)
	case "param":
		s.opts.Params[name] = given
	case "context":
		s.opts.Context[name] = given
	case "follow":
		s.opts.Follow, _ = strconv.Atoi(value)
	case "strict":
		s.opts.Strict = true
	case "ignore":
		s.opts.Ignore = strings.Fields(value)
	case "limit":
		s.opts.limit, _ = strconv.Atoi(value)
	case "send-to":
		s.opts.SendTo, _ = url.Parse(value)
	case "registered":
		s.opts.Registered = append(s.opts.Registered, signpost.NewManifest(endpoint("="+value)))
	case "schema": // a feed holds its violations, each a pointer and a message
		s.opts.FeedSchema = func(feed any) (violations []Violation) {
			found, _ := feed.(map[string]any)["violations"].([]any)
			for _, v := range found {
				violations = append(violations, Violation{v.([]any)[0].(string), fmt.Sprint(v.([]any)[1])})
			}
			return violations
		}
	case "endpoint":
		of, values, _ := strings.Cut(value, " ")
		var v Values
		if err := json.Unmarshal([]byte(values), &v); err != nil {
			s.t.Fatal(line, err)
		}
		s.opts.Endpoints[of] = v
	default:
		s.t.Fatalf("unknown option %q", line)
	}
}

// add adds the endpoints, or a response.
func (s *services) add(f txtar.File) {
	if f.Name == "endpoints" {
		var all []string
		for line := range strings.Lines(string(f.Data)) {
			at, fields, _ := strings.Cut(strings.TrimSpace(line), " ")
			e := map[string]any{"name": fmt.Sprintf("Feed %d", len(all)), "method": "get", "mime_type": "application/json"}
			if err := json.Unmarshal([]byte(fields), &e); fields != "" && err != nil {
				s.t.Fatal(line, err)
			}
			descriptor, _ := json.Marshal(e)
			all = append(all, fmt.Sprintf("%q: %s", at, descriptor))
		}
		s.endpoints = strings.Join(all, ", ")
		return
	}
	at, condition, _ := strings.Cut(f.Name, " ")
	r := response{url: at, text: string(f.Data)}
	r.header, r.value, _ = strings.Cut(condition, ": ")
	s.responses = append(s.responses, r)
	if strings.HasPrefix(at, "http") && strings.HasSuffix(at, "/endpoints-manifest") && !slices.Contains(s.addresses, at) {
		s.addresses = append(s.addresses, at)
	}
}

// RoundTrip answers a request, and records it.
func (s *services) RoundTrip(req *http.Request) (*http.Response, error) {
	asked, base := identity(req.URL.String()), req.URL.Scheme+"://"+req.URL.Host
	line := asked
	if forwarded := req.Header.Get("X-Forwarded-Host"); forwarded != "" {
		base = req.Header.Get("X-Forwarded-Proto") + "://" + forwarded
		line += " for " + base
		if req.Host != forwarded {
			s.t.Errorf("the host of %s is %s", line, req.Host)
		}
	}
	if ctx := req.URL.Query().Get(signpost.ContextCtx); ctx != "" {
		values, err := base64.RawURLEncoding.DecodeString(ctx)
		if line += " with " + string(values); err != nil {
			s.t.Error(err)
		}
	}
	isManifest := strings.HasSuffix(strings.TrimSuffix(req.URL.Path, "/"), "/endpoints-manifest")
	if !isManifest {
		s.mu.Lock()
		for _, name := range []string{"Authorization", "X-Profile"} { // headers of context keys
			if value := req.Header.Get(name); value != "" {
				line += " with " + name + ": " + value
			}
		}
		s.requests = append(s.requests, line+"\n")
		s.mu.Unlock()
	}
	text := map[bool]string{true: "MANIFEST", false: "404\n"}[isManifest]
	plain, _, _ := strings.Cut(asked, "?")
	for _, r := range s.responses {
		got := req.Header.Get(r.header)
		if slices.Contains([]string{asked, strings.TrimSuffix(asked, req.URL.RawQuery), plain, req.URL.Path}, r.url) && (r.header == "" || got != "" && (r.value == "" || got == r.value)) {
			text = r.text
			break
		}
	}
	text = strings.ReplaceAll(text, "MANIFEST", `{"endpoints": {`+s.endpoints+`}}`)
	text = strings.NewReplacer("BASE", base, "ORIGIN", req.Header.Get("Origin"), "LATIN1", "\xe9").Replace(text)
	if !regexp.MustCompile(`^([0-9]{3}|abort|stall)\b`).MatchString(text) { // only a body
		text = "200\nContent-Type: application/json\nAccess-Control-Allow-Origin: *\n\n" + text
	}
	head, body, _ := strings.Cut(text, "\n\n")
	status, headers, _ := strings.Cut(strings.TrimSuffix(head, "\n"), "\n")
	code, fault, _ := strings.Cut(status, " ")
	res := &http.Response{Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(strings.TrimSuffix(body, "\n")))}
	res.StatusCode, _ = strconv.Atoi(code)
	for header := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSuffix(header, "\n"), ": ")
		res.Header.Add(name, value)
	}
	then := func(err error) { res.Body = io.NopCloser(io.MultiReader(res.Body, iotest.ErrReader(err))) }
	switch {
	case code == "abort":
		return nil, io.EOF
	case code == "stall":
		return nil, context.DeadlineExceeded
	case strings.HasPrefix(fault, "gzip"):
		for range strings.Fields(fault) {
			zipped := new(bytes.Buffer)
			zip := gzip.NewWriter(zipped)
			io.Copy(zip, res.Body)
			zip.Close()
			res.Body = io.NopCloser(zipped)
		}
	case fault == "cut":
		then(io.ErrUnexpectedEOF)
	case fault == "stall":
		then(context.DeadlineExceeded)
	case fault == "endless":
		res.Body = io.NopCloser(io.MultiReader(res.Body, bytes.NewReader(bytes.Repeat([]byte(" "), 2*s.opts.limit))))
	}
	return res, nil
}

// format writes the results of a check, with hints and the facts for other hints.
func (s *services) format(report Report) string {
	var out strings.Builder
	if len(s.addresses) > 1 {
		fmt.Fprintf(&out, "%s\n", report.Address)
	}
	if report.Ignored > 0 {
		fmt.Fprintf(&out, "%d ignored\n", report.Ignored)
	}
	for _, r := range report.Results {
		if s.checks != nil && !slices.Contains(s.checks, r.Check) {
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", strings.TrimSpace(fmt.Sprint(r.Check, " ", r.Status, " ", r.Endpoint)), r.Message)
		if r.Hint != "" {
			fmt.Fprintf(&out, "\t%s\n", r.Hint)
		}
		if r.Cause != "" || len(r.Params)+len(r.ContextKeys) > 0 {
			fmt.Fprintf(&out, "\t%s %q %q\n", r.Cause, r.Params, r.ContextKeys)
		}
	}
	return out.String()
}
