// Package lsp implements the language server for definition files, which speaks the Language Server Protocol with an
// editor.
//
// [Serve] serves one editor on a pair of streams until it exits or hangs up.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// Options configure Serve. The zero value is usable.
type Options struct {
	Version string       // Signpost's version, reported to the editor
	Log     *slog.Logger // receives errors; nil discards them. Must not write to the protocol's stream
}

// ErrNoShutdown means that the editor exited without the shutdown request that the protocol requires.
var ErrNoShutdown = errors.New("the editor exited without shutting down the language server")

// Error codes of the protocol that package jsonrpc2 lacks.
const (
	codeNotInitialized = -32002
	codeRequestFailed  = -32803
)

// Serve speaks the protocol on in and out until the editor sends exit, in ends, or ctx is done. It writes only protocol
// messages to out. It returns nil after a proper shutdown and exit, and ErrNoShutdown otherwise.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{opts: opts, workspace: &workspace{files: &fileCache{}}, due: make(chan *workspace, 1), exited: make(chan struct{})}
	linted := make(chan struct{})
	finish := sync.OnceFunc(func() { // publishes the findings that are due
		close(s.due)
		<-linted
	})
	s.handlers = map[string]handler{
		"textDocument/completion":     s.completion,
		"textDocument/hover":          s.hover,
		"textDocument/definition":     s.definition,
		"textDocument/references":     s.references,
		"textDocument/prepareRename":  s.prepareRename,
		"textDocument/rename":         s.rename,
		"textDocument/documentSymbol": s.documentSymbol,
		"textDocument/codeAction":     s.codeAction,
	}
	stream := jsonrpc2.NewBufferedStream(streams{in, out, finish}, jsonrpc2.VSCodeObjectCodec{})
	conn := jsonrpc2.NewConn(ctx, stream, jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(quiet{opts.Log}))
	go func() {
		defer close(linted)
		s.lintAll(ctx, conn)
	}()
	select {
	case <-conn.DisconnectNotify():
	case <-s.exited:
	}
	finish()
	conn.Close()
	if !s.shutDown.Load() {
		return ErrNoShutdown
	}
	return nil
}

// streams joins the two directions. When the input ends, the findings that are still due are written first.
type streams struct {
	io.Reader
	io.Writer
	finish func()
}

func (s streams) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && n == 0 {
		s.finish()
	}
	return n, err
}

func (s streams) Close() error { return nil }

// quiet redirects the log output of package jsonrpc2.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(format string, args ...any) {
	q.log.Warn(strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// server is a session with one editor. Package jsonrpc2 calls handle sequentially, so requests are answered in order,
// from the text at the time of the request. Only findings are computed in the background.
type server struct {
	opts        Options
	handlers    map[string]handler // by method
	workspace   *workspace
	due         chan *workspace // to be linted next; a newer one replaces it
	initialized bool
	shutDown    atomic.Bool
	exited      chan struct{}
}

// handler answers one kind of request about a document.
type handler func(doc *document, in placeParams) (any, error)

// handle returns the response to a message. A notification has none.
func (s *server) handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	params := json.RawMessage("{}") // they may be omitted
	if req.Params != nil {
		params = *req.Params
	}
	select {
	case <-s.exited: // ignore everything after exit
		return nil, nil
	default:
	}
	switch {
	case req.Method == "exit":
		close(s.exited)
		return nil, nil
	case req.Notif && (!s.initialized || s.shutDown.Load()):
		return nil, nil // ignored, as the protocol requires
	case req.Notif:
		return nil, s.notification(req.Method, params)
	}
	result, err := s.safely(func() (any, error) { return s.answer(req.Method, params) })
	if coded := new(jsonrpc2.Error); err != nil && !errors.As(err, &coded) {
		err = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
	}
	return result, err
}

// answer returns the response to a request.
func (s *server) answer(method string, params json.RawMessage) (any, error) {
	switch {
	case s.shutDown.Load():
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is shut down"}
	case method == "initialize" && s.initialized:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is already initialized"}
	case method == "initialize":
		s.initialized = true
		return s.capabilities(), nil
	case !s.initialized:
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "send initialize first"}
	case method == "shutdown":
		s.shutDown.Store(true)
		return nil, nil
	}
	answer := s.handlers[method]
	if answer == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not supported", method)}
	}
	var in placeParams
	if err := decode(params, &in); err != nil {
		return nil, err
	}
	doc := s.workspace.documents[in.TextDocument.URI]
	if doc == nil {
		return nil, nil // it is not open
	}
	return answer(doc, in)
}

func decode(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

// capabilities returns what the server tells the editor about itself.
func (s *server) capabilities() any {
	return map[string]any{
		"serverInfo": map[string]any{"name": "signpost", "version": s.opts.Version},
		"capabilities": map[string]any{
			"positionEncoding":       "utf-16",
			"textDocumentSync":       map[string]any{"openClose": true, "change": 2, "save": map[string]any{}}, // 2: incremental
			"completionProvider":     map[string]any{"triggerCharacters": []string{":", " ", "-", "\"", "/"}},
			"hoverProvider":          true,
			"definitionProvider":     true,
			"referencesProvider":     true,
			"renameProvider":         map[string]any{"prepareProvider": true},
			"documentSymbolProvider": true,
			"codeActionProvider":     map[string]any{"codeActionKinds": []string{quickFix, fixAll}},
		},
	}
}

// notification applies a message that expects no response to the workspace.
func (s *server) notification(method string, params json.RawMessage) error {
	var in changeParams
	if err := decode(params, &in); err != nil {
		return err
	}
	uri := in.TextDocument.URI
	switch method {
	case "textDocument/didOpen":
		s.workspace = s.workspace.with(uri, newDocument(uri, in.TextDocument.Version, in.TextDocument.Text))
	case "textDocument/didChange":
		doc := s.workspace.documents[uri]
		if doc == nil {
			return fmt.Errorf("document %q is not open", uri)
		}
		s.workspace = s.workspace.with(uri, doc.edit(in.TextDocument.Version, in.ContentChanges))
	case "textDocument/didClose":
		s.workspace = s.workspace.with(uri, nil)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles": // another file of the directory may have changed
	default:
		return nil // such as initialized, or an extension of the protocol
	}
	select {
	case <-s.due:
	default:
	}
	s.due <- s.workspace
	return nil
}

// lintAll publishes the findings of all open documents whenever something has changed.
func (s *server) lintAll(ctx context.Context, conn *jsonrpc2.Conn) {
	publish := func(uri string, version int, found []diagnostic) {
		err := conn.Notify(ctx, "textDocument/publishDiagnostics", publishDiagnostics{uri, version, found})
		if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
			s.opts.Log.Warn("findings not sent", "error", err)
		}
	}
	published := make(map[string]bool) // URIs
	for w := range s.due {
		for uri := range published {
			if w.documents[uri] == nil {
				publish(uri, 0, []diagnostic{})
				delete(published, uri)
			}
		}
		for uri, doc := range w.documents {
			if len(s.due) > 0 {
				break // the text has changed meanwhile
			}
			s.safely(func() (any, error) {
				publish(uri, doc.version, w.diagnostics(doc))
				published[uri] = true
				return nil, nil
			})
		}
	}
}

// safely turns a panic into an error: a bug in one response must not end the session.
func (s *server) safely(body func() (any, error)) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.opts.Log.Error("internal error", "cause", cause, "stack", string(debug.Stack()))
			result, err = nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "internal error"}
		}
	}()
	return body()
}
