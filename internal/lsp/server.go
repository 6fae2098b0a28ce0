// Package lsp implements the language server for definition files, which speaks the Language Server Protocol with an
// editor.
//
// [Serve] serves one editor on a pair of streams until it exits or hangs up.
package lsp

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/textproto"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"signpost"
	"signpost/definition"
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

// server is a session with one editor.
type server struct {
	opts        Options
	out         *bufio.Writer
	documents   map[string]*document          // in the editor, by URI, with their unsaved text
	folders     map[string]*folder            // what documents are registered with, by project file or directory
	judged      map[string][]signpost.Finding // findings of documents, by URI, until something changes
	changed     bool                          // since findings were published
	initialized bool
	watches     bool // the editor can tell about files that have changed
	shutDown    bool
}

// handlers answer the requests about a document, by method.
var handlers = map[string]func(s *server, doc *document, in placeParams) (any, error){
	"textDocument/completion":     (*server).completion,
	"textDocument/hover":          (*server).hover,
	"textDocument/definition":     (*server).definition,
	"textDocument/references":     (*server).references,
	"textDocument/prepareRename":  (*server).prepareRename,
	"textDocument/rename":         (*server).rename,
	"textDocument/documentSymbol": (*server).documentSymbol,
	"textDocument/codeAction":     (*server).codeAction,
}

func newServer(out io.Writer, opts Options) *server {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	return &server{
		opts: opts, out: bufio.NewWriter(out),
		documents: make(map[string]*document), folders: make(map[string]*folder),
		judged: make(map[string][]signpost.Finding),
	}
}

// Serve speaks the protocol on in and out until the editor sends exit or in ends. It writes only protocol messages to
// out. It returns nil after a proper shutdown and exit, and ErrNoShutdown otherwise.
//
// Messages are handled one after the other, so responses are about the text at the time of the request. Findings are
// published as soon as no further message waits: while the author types on, they are out of date at once.
func Serve(in io.Reader, out io.Writer, opts Options) error {
	s := newServer(out, opts)
	messages := bufio.NewReader(in)
	for {
		if messages.Buffered() == 0 {
			s.publish()
		}
		body, err := readBody(messages)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.opts.Log.Warn("message cannot be read", "error", err)
			}
			return ErrNoShutdown
		}
		if !json.Valid(body) {
			s.sendError(jsonrpc2.CodeParseError, "the message is not JSON")
			continue
		}
		var req jsonrpc2.Request
		if err := json.Unmarshal(body, &req); err != nil {
			if !isResponse(body) {
				s.sendError(jsonrpc2.CodeInvalidRequest, "the message is not a request: "+err.Error())
			}
			continue
		}
		if req.Method == "exit" {
			s.publish()
			if !s.shutDown {
				return ErrNoShutdown
			}
			return nil
		}
		s.handle(&req)
	}
}

// isResponse reports whether a message is the response to a request, such as our own to watch files.
func isResponse(body []byte) bool {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(body, &fields)
	return err == nil && fields["method"] == nil && (fields["result"] != nil || fields["error"] != nil)
}

// sendError answers a message whose id is not known.
func (s *server) sendError(code int64, message string) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": nil, "error": failure(code, message)})
}

func failure(code int64, message string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: code, Message: message}
}

// handle handles a message and, unless it is a notification, sends the response.
func (s *server) handle(req *jsonrpc2.Request) {
	params := json.RawMessage("{}") // they may be omitted
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		if _, err := s.safely(func() (any, error) { return nil, s.notification(req.Method, params) }); err != nil {
			s.opts.Log.Warn("notification ignored", "method", req.Method, "error", err)
		}
		return
	}
	resp := &jsonrpc2.Response{ID: req.ID}
	result, err := s.safely(func() (any, error) { return s.answer(req.Method, params) })
	if err == nil {
		err = resp.SetResult(result)
	}
	if err != nil && !errors.As(err, &resp.Error) {
		resp.Error = failure(codeRequestFailed, err.Error())
	}
	s.send(resp)
}

func (s *server) send(message any) {
	err := errors.Join(jsonrpc2.VSCodeObjectCodec{}.WriteObject(s.out, message), s.out.Flush())
	if err != nil {
		s.opts.Log.Warn("message not sent", "error", err)
	}
}

func (s *server) answer(method string, params json.RawMessage) (any, error) {
	switch {
	case s.shutDown:
		return nil, failure(jsonrpc2.CodeInvalidRequest, "the server is shut down")
	case method == "initialize" && s.initialized:
		return nil, failure(jsonrpc2.CodeInvalidRequest, "the server is already initialized")
	case method == "initialize":
		s.initialized = true
		var in initializeParams
		json.Unmarshal(params, &in) // without it, files are read again when a document is saved
		s.watches = in.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
		return s.capabilities(), nil
	case !s.initialized:
		return nil, failure(codeNotInitialized, "send initialize first")
	case method == "shutdown":
		s.shutDown = true
		return nil, nil
	}
	answer := handlers[method]
	if answer == nil {
		return nil, failure(jsonrpc2.CodeMethodNotFound, fmt.Sprintf("method %q is not supported", method))
	}
	var in placeParams
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, failure(jsonrpc2.CodeInvalidParams, err.Error())
	}
	doc := s.documents[in.TextDocument.URI]
	if doc == nil {
		return nil, nil // it is not open
	}
	return answer(s, doc, in)
}

// incremental is the kind of synchronization in which changes are edits of a range.
const incremental = 2

func (s *server) capabilities() any {
	return map[string]any{
		"serverInfo": map[string]any{"name": "signpost", "version": s.opts.Version},
		"capabilities": map[string]any{
			"positionEncoding":       "utf-16",
			"textDocumentSync":       map[string]any{"openClose": true, "change": incremental, "save": map[string]any{}},
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

func (s *server) notification(method string, params json.RawMessage) error {
	if !s.initialized || s.shutDown {
		return nil // ignored, as the protocol requires
	}
	var in changeParams
	if err := json.Unmarshal(params, &in); err != nil {
		return err
	}
	uri := in.TextDocument.URI
	switch method {
	case "initialized":
		s.watchFiles()
		return nil
	case "textDocument/didOpen":
		s.readAgain()
		doc := newDocument(uri, in.TextDocument.Version, in.TextDocument.Text)
		doc.meant = isDefinition(doc.name(), []byte(doc.text))
		s.add(doc)
	case "textDocument/didChange":
		doc := s.documents[uri]
		if doc == nil {
			return fmt.Errorf("document %q is not open", uri)
		}
		s.add(doc.edit(in.TextDocument.Version, in.ContentChanges))
	case "textDocument/didClose":
		delete(s.documents, uri)
		s.readAgain()
		s.notify("textDocument/publishDiagnostics", publishDiagnostics{uri, 0, []diagnostic{}})
	case "textDocument/didSave", "workspace/didChangeWatchedFiles": // another file may have changed
		s.readAgain()
	default:
		return nil // such as an extension of the protocol
	}
	s.changed = true
	clear(s.judged)
	return nil
}

// add makes a document the current version of what it is about. Its text is parsed once: by the workspace, which judges
// it together with others, unless it is in none.
func (s *server) add(doc *document) {
	s.documents[doc.uri] = doc
	if doc.path == "" || doc.isProject() {
		return
	}
	doc.file = sync.OnceValue(func() *definition.File {
		file := s.folderOf(doc).fileAt(doc.path)
		if file == nil || file.Definition == nil { // because of a bug
			return doc.parseAlone()
		}
		return file.Definition
	})
}

// publish sends the findings of all documents if something has changed.
func (s *server) publish() {
	if !s.changed {
		return
	}
	s.changed = false
	for uri, doc := range s.documents {
		s.safely(func() (any, error) {
			found := []diagnostic{}
			for _, f := range s.findings(doc) {
				found = append(found, doc.diagnostic(f))
			}
			s.notify("textDocument/publishDiagnostics", publishDiagnostics{uri, doc.version, found})
			return nil, nil
		})
	}
}

const watchID = "signpost-watch"

// watchFiles asks the editor to tell about files that have changed on disk, for example because of git.
func (s *server) watchFiles() {
	if !s.watches {
		return
	}
	watchers := []map[string]string{
		{"globPattern": "**/*.{yaml,yml,json,YAML,YML,JSON}"}, {"globPattern": "**/" + definition.ProjectName},
	}
	s.send(map[string]any{
		"jsonrpc": "2.0", "id": watchID, "method": "client/registerCapability",
		"params": map[string]any{"registrations": []any{map[string]any{
			"id": watchID, "method": "workspace/didChangeWatchedFiles",
			"registerOptions": map[string]any{"watchers": watchers},
		}}},
	})
}

func (s *server) notify(method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *server) logMessage(format string, args ...any) {
	const info = 3
	s.notify("window/logMessage", map[string]any{"type": info, "message": fmt.Sprintf(format, args...)})
}

// maxMessage limits a message: a document of the largest size, with escapes.
const maxMessage = 8 * definition.MaxSize

func readBody(in *bufio.Reader) ([]byte, error) {
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || length < 0 || length > maxMessage {
		return nil, fmt.Errorf("Content-Length is %q", header.Get("Content-Length"))
	}
	body := make([]byte, length)
	_, err = io.ReadFull(in, body)
	return body, err
}

// safely turns a panic into an error: a bug in one response must not end the session.
func (s *server) safely(body func() (any, error)) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.opts.Log.Error("internal error", "cause", cause, "stack", string(debug.Stack()))
			result, err = nil, failure(jsonrpc2.CodeInternalError, "internal error")
		}
	}()
	return body()
}
