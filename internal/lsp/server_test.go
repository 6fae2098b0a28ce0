package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"signpost/internal/testkit"
)

// editor is the other side of a session. Its messages are handled at once, without streams.
type editor struct {
	*server
	t   *testing.T
	out bytes.Buffer
}

func newEditor(t *testing.T) *editor {
	e := &editor{t: t}
	e.server = newServer(&e.out, Options{})
	e.call("initialize", struct{}{}, nil)
	return e
}

func (e *editor) call(method string, in, out any) {
	e.t.Helper()
	testkit.OK(e.t, e.try(method, in, out))
}

func (e *editor) try(method string, in, out any) error {
	e.t.Helper()
	req := &jsonrpc2.Request{Method: method}
	testkit.OK(e.t, req.SetParams(in))
	e.out.Reset()
	e.handle(req)
	var resp jsonrpc2.Response
	testkit.OK(e.t, jsonrpc2.VSCodeObjectCodec{}.ReadObject(bufio.NewReader(&e.out), &resp))
	if resp.Error != nil {
		return resp.Error
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(*resp.Result, out)
}

func (e *editor) notify(method string, in any) {
	e.t.Helper()
	req := &jsonrpc2.Request{Method: method, Notif: true}
	testkit.OK(e.t, req.SetParams(in))
	e.handle(req)
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (e *editor) open(path, text string) {
	e.t.Helper()
	var in changeParams
	in.TextDocument.URI, in.TextDocument.Version, in.TextDocument.Text = uriOf(path), 1, text
	e.notify("textDocument/didOpen", in)
}

func (e *editor) change(path string, version int, changes ...contentChange) {
	e.t.Helper()
	var in changeParams
	in.TextDocument.URI, in.TextDocument.Version, in.ContentChanges = uriOf(path), version, changes
	e.notify("textDocument/didChange", in)
}

// diagnostics returns the findings of a version of a document that were published last.
func (e *editor) diagnostics(path string, version int) []diagnostic {
	e.t.Helper()
	e.publish()
	var found []diagnostic
	for _, body := range testkit.Must(unframe(e.out.String()))(e.t) {
		var message struct{ Params publishDiagnostics }
		if err := json.Unmarshal([]byte(body), &message); err == nil && message.Params.URI == uriOf(path) && message.Params.Version == version {
			found = message.Params.Diagnostics
		}
	}
	if found == nil {
		e.t.Fatalf("no diagnostics for version %d of %s", version, path)
	}
	return found
}

// placeIn returns the text without its mark ¦, and the params of a request about that location.
func placeIn(path, text string) (string, placeParams) {
	before, after, ok := strings.Cut(text, "¦")
	if !ok {
		panic("no ¦ in the text")
	}
	doc := newDocument(uriOf(path), 1, before+after)
	return before + after, placeParams{TextDocument: documentID{uriOf(path)}, Position: doc.position(len(before))}
}

const sports = `service: Sports
enable: [authentication]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/matches:
        name: Matches
        method: get
        mime_type: application/json
        modifiers: [limit]
      https://{{host}}/v1/media:
        name: Media
        method: get
        mime_type: application/json
        modifiers: [limit]
`

// converse sends messages to a server, each a line, and returns what it writes and logs.
func converse(messages string) (bodies []string, log string, err error) {
	var in, out, logged strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(messages), "\n") {
		writeMessage(&in, strings.TrimSpace(line))
	}
	err = Serve(strings.NewReader(in.String()), &out, Options{Version: "v1.2.3", Log: slog.New(slog.NewTextHandler(&logged, nil))})
	bodies, unread := unframe(out.String())
	return bodies, logged.String(), errors.Join(err, unread)
}

// TestLifecycle checks the order of a session, and that messages that make no sense do not end it. The findings of a
// text are published before the end.
func TestLifecycle(t *testing.T) {
	bodies, log, err := converse(`
		{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///early.yaml","version":7,"text":"versions: 5"}}}
		{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}
		{"jsonrpc":"2.0","id":2,"method":"initialize"}
		{"jsonrpc":"2.0","id":3,"method":"initialize"}
		{"jsonrpc":"2.0","method":"$/unknown"}
		{"jsonrpc":"2.0","id":4,"method":"textDocument/fold","params":{}}
		{"jsonrpc":"2.0","id":5,"method":"textDocument/hover","params":[]}
		{"jsonrpc":"2.0","id":6,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///nowhere.yaml"}}}
		{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[]}
		{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere.yaml"}}}
		{"jsonrpc":"2.0","id":7,"result":null}
		{"jsonrpc":"2.0","id":11}
		[{"jsonrpc":"2.0","id":12,"method":"textDocument/hover"}]
		{"jsonrpc":"2.0","id":{},"method":"textDocument/hover"}
		{"jsonrpc":"2.0","method":1,"result":null}
		5
		{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/a.yaml","version":7,"text":"versions: 5"}}}
		{"jsonrpc":"2.0","id":8,"method":"shutdown"}
		{"jsonrpc":"2.0","id":9,"method":"textDocument/hover","params":{}}
		{"jsonrpc":"2.0","method":"exit"}
		{"jsonrpc":"2.0","id":10,"method":"initialize"}`)
	testkit.OK(t, err)
	var got []string
	for _, body := range bodies {
		var message struct {
			ID     int
			Method string
			Error  struct{ Code int }
		}
		testkit.OK(t, json.Unmarshal([]byte(body), &message))
		got = append(got, fmt.Sprintf("%d %s%d", message.ID, message.Method, message.Error.Code))
	}
	testkit.Equal(t, "answers", strings.Join(got, ", "),
		"1 -32002, 2 0, 3 -32600, 4 -32601, 5 -32602, 6 0, 0 -32600, 0 -32600, 0 -32600, 0 -32600, 0 -32600, 8 0, 9 -32600, 0 textDocument/publishDiagnostics0")
	for _, want := range []string{`"positionEncoding":"utf-16"`, `"version":"v1.2.3"`, `"textDocumentSync":{"change":2,"openClose":true,"save":{}}`,
		`"hoverProvider":true`, `"definitionProvider":true`, `"referencesProvider":true`, `"documentSymbolProvider":true`, `"prepareProvider":true`,
	} {
		if !strings.Contains(bodies[1], want) {
			t.Errorf("initialize returns %s, without %s", bodies[1], want)
		}
	}
	if last := bodies[len(bodies)-1]; !strings.Contains(last, `"uri":"file:///nowhere/a.yaml","version":7,"diagnostics":[{`) {
		t.Errorf("the findings are %s", last)
	}
	if strings.Count(log, "level=WARN") != 2 || !strings.Contains(log, "is not open") {
		t.Errorf("the log is\n%s", log)
	}
}

// TestHangUp checks that an editor that does not say goodbye still gets the findings of what it sent.
func TestHangUp(t *testing.T) {
	const session = `{"jsonrpc":"2.0","id":1,"method":"initialize"}
		{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/a.yaml","version":7,"text":"versions: 5"}}}`
	for _, end := range []string{"", "\n" + `{"jsonrpc":"2.0","method":"exit"}`} {
		bodies, _, err := converse(session + end)
		if !errors.Is(err, ErrNoShutdown) || len(bodies) != 2 {
			t.Errorf("Serve returns %v and writes %s", err, bodies)
		}
	}
}

// writeMessage writes a message with its header.
func writeMessage(w io.Writer, body string) {
	fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// unframe splits a stream into message bodies, and reports anything that is not a message.
func unframe(out string) (bodies []string, err error) {
	in := bufio.NewReader(strings.NewReader(out))
	for {
		var body json.RawMessage
		if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(in, &body); errors.Is(err, io.EOF) {
			return bodies, nil
		} else if err != nil {
			return nil, err
		}
		bodies = append(bodies, string(body))
	}
}
