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
	"slices"
	"sync"

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
	codeNotInitialized   = -32002
	codeRequestCancelled = -32800
	codeRequestFailed    = -32803
)

// Serve speaks the protocol on in and out until the editor sends exit, in ends, or ctx is done. It writes only protocol
// messages to out. It returns nil after a proper shutdown and exit, and otherwise ErrNoShutdown or the error that ended
// the session.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	return newServer(opts).serve(ctx, in, out)
}

func newServer(opts Options) *server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{
		opts: opts, schema: loadSchema(), workspace: newWorkspace(),
		running: make(map[jsonrpc2.ID]context.CancelFunc), exited: make(chan struct{}),
	}
	s.handlers = map[string]handler{
		"textDocument/completion":     place(s.completion),
		"textDocument/hover":          place(s.hover),
		"textDocument/definition":     place(s.definition),
		"textDocument/references":     place(s.references),
		"textDocument/prepareRename":  place(s.prepareRename),
		"textDocument/rename":         place(s.rename),
		"textDocument/documentSymbol": s.documentSymbol,
		"textDocument/codeAction":     s.codeAction,
	}
	return s
}

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	messages := newStream(in, out)
	messages.end = s.work.Wait // an editor that hangs up still gets pending responses
	conn := jsonrpc2.NewConn(ctx, messages, s, jsonrpc2.SetLogger(quiet{s.opts.Log}))
	select {
	case <-conn.DisconnectNotify():
	case <-s.exited:
	}
	s.work.Wait()
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shutDown {
		return ErrNoShutdown
	}
	return nil
}

// quiet redirects the log output of package jsonrpc2.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(format string, args ...any) { q.log.Warn(fmt.Sprintf(format, args...)) }

// server is a session with one editor.
type server struct {
	opts     Options
	schema   *schema
	handlers map[string]handler // by method

	mu          sync.Mutex
	workspace   *workspace
	initialized bool
	shutDown    bool
	running     map[jsonrpc2.ID]context.CancelFunc // requests in progress
	linting     context.CancelFunc                 // cancels the last lint

	linter   sync.Mutex     // held by the running lint
	requests sync.WaitGroup // requests in progress
	work     sync.WaitGroup // requests and lints
	exited   chan struct{}
	exitOnce sync.Once
}

// Handle processes one message. Package jsonrpc2 calls it sequentially: text changes are applied here, in order, while
// requests are answered concurrently, each from the text at the time of the request.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	select {
	case <-s.exited: // ignore everything after exit
		return
	default:
	}
	if req.Notif {
		s.notification(ctx, conn, req)
		return
	}
	answer, err := s.admit(req)
	if err != nil {
		s.reply(ctx, conn, req.ID, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[req.ID] = cancel
	view := s.workspace.view()
	s.mu.Unlock()
	s.requests.Add(1)
	s.work.Go(func() {
		defer s.requests.Done()
		defer cancel()
		result, err := s.safely(func() (any, error) { return answer(ctx, view, params(req)) })
		if ctx.Err() != nil {
			err = &jsonrpc2.Error{Code: codeRequestCancelled, Message: "cancelled"}
		}
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		s.reply(context.WithoutCancel(ctx), conn, req.ID, result, err)
	})
}

// handler answers one kind of request.
type handler func(ctx context.Context, view *view, params json.RawMessage) (any, error)

// admit returns the handler for a request, or the reason why it is rejected.
func (s *server) admit(req *jsonrpc2.Request) (handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.shutDown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is shut down"}
	case req.Method == "initialize" && s.initialized:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server is already initialized"}
	case req.Method == "initialize":
		var in initializeParams
		if err := decode(params(req), &in); err != nil {
			return nil, err
		}
		s.initialized = true
		s.workspace.open(in)
		return s.initialize, nil
	case !s.initialized:
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "send initialize first"}
	case req.Method == "shutdown":
		s.shutDown = true
		return func(context.Context, *view, json.RawMessage) (any, error) { return nil, nil }, nil
	}
	if answer := s.handlers[req.Method]; answer != nil {
		return answer, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not supported", req.Method)}
}

// place adapts a function that answers requests about a location. If the document is not open, the result is null.
func place(answer func(ctx context.Context, view *view, doc *document, offset int, in placeParams) (any, error)) handler {
	return func(ctx context.Context, view *view, params json.RawMessage) (any, error) {
		var in placeParams
		if err := decode(params, &in); err != nil {
			return nil, err
		}
		doc := view.documents[in.TextDocument.URI]
		if doc == nil {
			return nil, nil
		}
		return answer(ctx, view, doc, doc.offset(in.Position), in)
	}
}

// params returns the params of a request, which may be omitted.
func params(req *jsonrpc2.Request) json.RawMessage {
	if req.Params == nil {
		return json.RawMessage("{}")
	}
	return *req.Params
}

func decode(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

// initialize tells the editor the server's capabilities.
func (s *server) initialize(context.Context, *view, json.RawMessage) (any, error) {
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
			"workspace": map[string]any{
				"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true},
			},
		},
	}, nil
}

// notification processes a message that expects no response.
func (s *server) notification(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method == "exit" {
		s.exitOnce.Do(func() { close(s.exited) })
		return
	}
	if req.Method == "$/cancelRequest" {
		s.cancel(req)
		return
	}
	s.requests.Wait() // so that only one version of a large text is in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.initialized || s.shutDown {
		return // as the protocol requires
	}
	changed, err := s.change(req)
	if err != nil {
		s.opts.Log.Warn("notification ignored", "method", req.Method, "error", err)
	}
	if changed {
		s.lint(ctx, conn)
	}
}

// cancel cancels the request that a notification names.
func (s *server) cancel(req *jsonrpc2.Request) {
	var in struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if err := decode(params(req), &in); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[in.ID]; cancel != nil {
		cancel()
	}
}

// change applies a notification to the workspace and reports whether findings may have changed. The caller holds the
// lock.
func (s *server) change(req *jsonrpc2.Request) (bool, error) {
	switch req.Method {
	case "textDocument/didOpen":
		var in didOpen
		if err := decode(params(req), &in); err != nil {
			return false, err
		}
		s.workspace.set(newDocument(in.TextDocument.URI, in.TextDocument.Version, in.TextDocument.Text))
	case "textDocument/didChange":
		var in didChange
		if err := decode(params(req), &in); err != nil {
			return false, err
		}
		doc := s.workspace.documents[in.TextDocument.URI]
		if doc == nil {
			return false, fmt.Errorf("document %q is not open", in.TextDocument.URI)
		}
		s.workspace.set(doc.edit(in.TextDocument.Version, in.ContentChanges))
	case "textDocument/didClose":
		var in didClose
		if err := decode(params(req), &in); err != nil {
			return false, err
		}
		s.workspace.close(in.TextDocument.URI)
	case "workspace/didChangeWorkspaceFolders":
		var in foldersChanged
		if err := decode(params(req), &in); err != nil {
			return false, err
		}
		s.workspace.changeFolders(in)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles": // another file of the directory may have changed
	default:
		return false, nil // such as initialized, or an extension of the protocol
	}
	return true, nil
}

// lint publishes the findings of all open documents in the background, once a lint that is still running has ended.
// Findings for text that has changed meanwhile are dropped. The caller holds the lock.
func (s *server) lint(ctx context.Context, conn *jsonrpc2.Conn) {
	if s.linting != nil {
		s.linting()
	}
	ctx, s.linting = context.WithCancel(ctx)
	s.work.Go(func() {
		s.linter.Lock()
		defer s.linter.Unlock()
		s.mu.Lock()
		if ctx.Err() != nil { // another one follows
			s.mu.Unlock()
			return
		}
		view, closed := s.workspace.view(), s.workspace.takeClosed()
		s.mu.Unlock()
		for _, uri := range closed {
			conn.Notify(ctx, "textDocument/publishDiagnostics", publishDiagnostics{URI: uri, Diagnostics: []diagnostic{}})
		}
		s.safely(func() (any, error) {
			for _, uri := range view.order {
				if ctx.Err() != nil {
					return nil, nil
				}
				doc := view.documents[uri]
				found := view.diagnostics(doc)
				s.mu.Lock()
				if ctx.Err() == nil { // under the lock, so that older findings never follow newer ones
					conn.Notify(ctx, "textDocument/publishDiagnostics", publishDiagnostics{uri, doc.version, found})
				}
				s.mu.Unlock()
			}
			return nil, nil
		})
	})
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

func (s *server) reply(ctx context.Context, conn *jsonrpc2.Conn, id jsonrpc2.ID, result any, err error) {
	if err == nil {
		err = conn.Reply(ctx, id, result)
	} else {
		var coded *jsonrpc2.Error
		if !errors.As(err, &coded) {
			coded = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
		}
		err = conn.ReplyWithError(ctx, id, coded)
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.opts.Log.Warn("response not sent", "error", err)
	}
}

// wants reports whether a client that asks for certain kinds of code action accepts this kind.
func wants(only []string, kind string) bool {
	return len(only) == 0 || slices.Contains(only, kind)
}
