package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// FuzzMessages checks that the server neither panics nor hangs on any input, and that its output consists of complete
// JSON-RPC messages.
func FuzzMessages(f *testing.F) {
	open := `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///w/feeds.yaml","version":1,"text":%q}}}`
	for _, method := range []string{"completion", "hover", "definition", "references", "rename", "codeAction", "documentSymbol"} {
		f.Add(fmt.Sprintf(open, sports)+"\n"+`{"jsonrpc":"2.0","id":2,"method":"textDocument/`+method+`","params":{"textDocument":{"uri":"file:///w/feeds.yaml"},"position":{"line":11,"character":20},"range":{"start":{"line":0},"end":{"line":99}},"newName":"x"}}`, false)
	}
	f.Add(fmt.Sprintf(open, "versions: {")+"\n"+`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///w/feeds.yaml"},"contentChanges":[{"range":{"start":{"line":-1,"character":9},"end":{"line":3}},"text":"é"}]}}`, false)
	f.Add("Content-Length: 5\r\n\r\n{}{}{", true)
	f.Fuzz(func(t *testing.T, text string, raw bool) {
		var in, out strings.Builder
		writeMessage(&in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
		if raw {
			in.WriteString(text)
		} else {
			for line := range strings.SplitSeq(text, "\n") {
				writeMessage(&in, line)
			}
		}
		var panicked strings.Builder
		log := slog.New(slog.NewTextHandler(&panicked, &slog.HandlerOptions{Level: slog.LevelError}))
		if err := Serve(strings.NewReader(in.String()), &out, Options{Log: log}); err != nil && !errors.Is(err, ErrNoShutdown) {
			t.Fatal(err)
		}
		if panicked.Len() > 0 {
			t.Fatal(panicked.String())
		}
		for _, body := range testkit.Must(unframe(out.String()))(t) {
			var message struct {
				Version string `json:"jsonrpc"`
			}
			if err := json.Unmarshal([]byte(body), &message); err != nil || message.Version != "2.0" {
				t.Fatalf("the server wrote %q", body)
			}
		}
	})
}

// FuzzCursor checks that at every offset of every text the word that is replaced ends at the cursor, on its line.
func FuzzCursor(f *testing.F) {
	f.Add("service: A\nenable: [a, {b: c}]\nx: |\n  text\n- {", false)
	f.Add(`{"service": "A", "versions": {"v1": [`, true)
	f.Add("#\r", false)
	f.Add("a: 'b\n  c'\n\"d\\\"{{", false)
	f.Fuzz(func(t *testing.T, text string, json bool) {
		if len(text) > 200 {
			return
		}
		doc := newDocument(map[bool]string{true: "file:///feeds.json", false: "file:///feeds.yaml"}[json], 1, text)
		for offset := range len(doc.text) + 1 {
			c, ok := doc.cursor(offset)
			if ok && (c.start < 0 || c.start > offset || strings.ContainsAny(doc.text[c.start:offset], "\r\n")) {
				t.Fatalf("offset %d of %q: the word begins at %d", offset, doc.text, c.start)
			}
			if !ok {
				continue
			}
			for _, item := range c.items(doc.names()) {
				if item.Label == "" || item.TextEdit.NewText == "" {
					t.Fatalf("offset %d of %q: an empty item %+v", offset, doc.text, item)
				}
			}
		}
	})
}
