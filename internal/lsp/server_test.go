package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// patience ends a test that hangs.
const patience = 5 * time.Minute

// editor is the client side of the protocol, on pipes, with the codec of package jsonrpc2.
type editor struct {
	*jsonrpc2.Conn
	t      *testing.T
	found  chan publishDiagnostics
	served chan error
}

// newEditor starts a server and initializes it.
func newEditor(t *testing.T) *editor {
	e := startEditor(t)
	var out struct {
		Capabilities map[string]any `json:"capabilities"`
	}
	e.call("initialize", struct{}{}, &out)
	if sync := fmt.Sprint(out.Capabilities["textDocumentSync"]); out.Capabilities["positionEncoding"] != "utf-16" || sync != "map[change:2 openClose:true save:map[]]" {
		t.Errorf("initialize returns %v", out)
	}
	e.notify("initialized", struct{}{})
	return e
}

func startEditor(t *testing.T) *editor {
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	e := &editor{t: t, found: make(chan publishDiagnostics, 100), served: make(chan error, 1)}
	go func() {
		e.served <- Serve(toServer, fromServer, Options{Version: "v1.2.3"})
		fromServer.Close()
	}()
	pipes := struct {
		io.Reader
		io.Writer
		io.Closer
	}{toEditor, fromEditor, fromEditor}
	stream := jsonrpc2.NewBufferedStream(pipes, jsonrpc2.VSCodeObjectCodec{})
	e.Conn = jsonrpc2.NewConn(t.Context(), stream, jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		var in publishDiagnostics
		if req.Method == "textDocument/publishDiagnostics" && json.Unmarshal(*req.Params, &in) == nil {
			e.found <- in
		}
		return nil, nil
	}))
	t.Cleanup(func() { e.Conn.Close() })
	return e
}

func (e *editor) call(method string, in, out any) {
	e.t.Helper()
	if err := e.try(method, in, out); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) try(method string, in, out any) error {
	ctx, cancel := context.WithTimeout(e.t.Context(), patience)
	defer cancel()
	return e.Conn.Call(ctx, method, in, out)
}

func (e *editor) notify(method string, in any) {
	e.t.Helper()
	if err := e.Conn.Notify(e.t.Context(), method, in); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
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

// diagnostics waits for the findings of a version of a document.
func (e *editor) diagnostics(path string, version int) []diagnostic {
	e.t.Helper()
	for {
		select {
		case got := <-e.found:
			if got.URI == uriOf(path) && got.Version == version {
				return got.Diagnostics
			}
		case <-time.After(patience):
			e.t.Fatalf("no diagnostics for version %d of %s", version, path)
		}
	}
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

func TestLifecycle(t *testing.T) {
	e := startEditor(t)
	code := func(method string) int64 {
		t.Helper()
		var failed *jsonrpc2.Error
		if err := e.try(method, struct{}{}, nil); !errors.As(err, &failed) {
			t.Fatalf("%s: %v", method, err)
		}
		return failed.Code
	}
	if got := code("textDocument/hover"); got != codeNotInitialized {
		t.Errorf("before initialize: code %d", got)
	}
	e.call("initialize", struct{}{}, nil)
	if got := code("initialize"); got != jsonrpc2.CodeInvalidRequest {
		t.Errorf("initialize again: code %d", got)
	}
	if got := code("textDocument/fold"); got != jsonrpc2.CodeMethodNotFound {
		t.Errorf("unknown method: code %d", got)
	}
	e.notify("$/unknown", struct{}{})
	e.call("shutdown", nil, nil)
	if got := code("textDocument/hover"); got != jsonrpc2.CodeInvalidRequest {
		t.Errorf("after shutdown: code %d", got)
	}
	e.notify("exit", nil)
	if err := <-e.served; err != nil {
		t.Errorf("Serve returns %v", err)
	}
}

func TestExitWithoutShutdown(t *testing.T) {
	e := newEditor(t)
	e.notify("exit", nil)
	if err := <-e.served; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("Serve returns %v", err)
	}
	if err := Serve(strings.NewReader(""), io.Discard, Options{}); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("Serve returns %v if the editor hangs up", err)
	}
}

// TestBadParams checks that a request with bad params is answered, and that the session goes on.
func TestBadParams(t *testing.T) {
	var in, out strings.Builder
	for _, body := range []string{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":[]}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[]}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere.yaml"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///nowhere.yaml"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`} {
		writeMessage(&in, body)
	}
	var log strings.Builder
	if err := Serve(strings.NewReader(in.String()), &out, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Errorf("Serve returns %v", err)
	}
	bodies, err := unframe(out.String())
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(bodies, "\n")
	for _, want := range []string{`"id":1,"error":{"code":-32602`, `"capabilities"`, `"id":3,"result":null`, `"id":4,"result":null`} {
		if !strings.Contains(strings.ReplaceAll(all, `"result":null,"id":`, `"id":`), want) && !strings.Contains(all, want) {
			t.Errorf("no response has %s:\n%s", want, all)
		}
	}
	for _, want := range []string{`is not open`, "textDocument/didOpen"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not have %s:\n%s", want, log.String())
		}
	}
}

// TestEndOfInput checks that an editor that hangs up still gets the findings of what it sent.
func TestEndOfInput(t *testing.T) {
	var in, out strings.Builder
	writeMessage(&in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	for _, name := range []string{"a", "b"} {
		writeMessage(&in, `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/`+name+`.yaml","version":7,"text":"versions: {v1: {endpoints: 5}}"}}}`)
	}
	if err := Serve(strings.NewReader(in.String()), &out, Options{}); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("Serve returns %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if !strings.Contains(out.String(), `{"uri":"file:///nowhere/`+name+`.yaml","version":7,"diagnostics":[{`) {
			t.Errorf("no findings of %s: %s", name, out.String())
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

// panicLog records logged errors, which are bugs of the server.
type panicLog struct{ said string }

func (l *panicLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelError}))
}

func (l *panicLog) Write(line []byte) (int, error) {
	l.said += string(line)
	return len(line), nil
}
