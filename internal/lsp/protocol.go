package lsp

// These are the messages of the Language Server Protocol 3.17 that Signpost uses, reduced to the fields that it reads
// and writes.

// position is a location in a document: a line, and UTF-16 code units in it, both counted from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is a range of a document. The protocol calls it Range.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type documentID struct {
	URI string `json:"uri"`
}

// initializeParams holds what the editor can do.
type initializeParams struct {
	Capabilities struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// changeParams holds the params of the notifications that change a document.
type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"` // of didOpen
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"` // of didChange
}

// contentChange replaces a range, or the whole text if there is none.
type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// placeParams holds the params of requests about a document or a location in it.
type placeParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
	Range        span       `json:"range"`   // of codeAction
	NewName      string     `json:"newName"` // of rename
	Context      struct {
		IncludeDeclaration bool     `json:"includeDeclaration"` // of references
		Only               []string `json:"only"`               // of codeAction
	} `json:"context"`
}

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
	Tags     []int  `json:"tags,omitempty"`
}

// Severities and tags of a diagnostic.
const (
	severityError   = 1
	severityWarning = 2

	tagUnnecessary = 1 // shown faded
)

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText,omitempty"`
	TextEdit      textEdit `json:"textEdit"`
}

// Kinds of completion items.
const (
	itemField = 5
	itemValue = 12
)

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll"
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Tags           []int            `json:"tags,omitempty"`
	Range          span             `json:"range"`
	SelectionRange span             `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

// Kinds of symbols.
const (
	symbolModule    = 2
	symbolNamespace = 3
	symbolField     = 8
	symbolInterface = 11
	symbolKey       = 20
)

// tagDeprecated is the tag of a deprecated symbol. Tags of diagnostics have other numbers.
const tagDeprecated = 1

type prepareRename struct {
	Range       span   `json:"range"`
	Placeholder string `json:"placeholder"`
}
