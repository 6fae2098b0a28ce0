// Package workspace holds what is registered together in one studio, as one value.
//
// A [Workspace] reads sources, parses each changed text once, and hands out immutable snapshots: the files, their
// findings alone and together, and what could not be read. [Read] makes a snapshot of what the arguments of a command
// name; [Workspace.Look] makes one of followed sources, and reuses everything that has not changed.
package workspace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
)

// Role says how a file takes part.
type Role int

// Roles of files.
const (
	Judged     Role = iota // it gets findings
	Beside                 // another definition of the same project, whatever errors it has
	Registered             // something else that the studio has
	Unlisted               // only being edited: nobody else's findings depend on it
)

// Source is a source with the role of its files.
type Source struct {
	source.Source
	Role Role
}

// Options configure a workspace. The zero value is usable.
type Options struct {
	Definition definition.Options // how definitions are parsed, except those that are only registered

	// Manifests makes judged files that are manifests be parsed as such, not as bad definitions.
	Manifests bool

	// Hasty makes files be read as soon as they change: for somebody who is waiting.
	Hasty bool

	// Prepare, if it is not nil, is called with each new file before it is in a snapshot, on several goroutines. It may
	// replace the definition by one that takes less memory.
	Prepare func(*File) any
}

// File is a parsed document. It never changes.
type File struct {
	source.Document
	Role       Role
	From       source.Source
	Definition *definition.File // nil if parsing it failed because of a bug
	Prepared   any              // what [Options.Prepare] returned

	id       string // determined once: of thousands of files, all are looked at whenever one has changed
	findings func() []signpost.Finding
}

// ID identifies the document, whatever name it was read by.
func (f *File) ID() string { return f.id }

// Findings returns what is wrong in the file alone. It is determined once, when it is first asked for: commands judge
// files together only.
func (f *File) Findings() []signpost.Finding { return f.findings() }

// Service returns the content of the file in the form that signpost/diff and signpost/match take.
func (f *File) Service() *source.Service { return source.ServiceOf(f.Document, f.Definition) }

// Failure is that of a source that cannot be read.
type Failure struct {
	From source.Source
	Role Role
	Err  error
}

// LeftOut is a definition of the project that is left out because something judged is another state of it.
type LeftOut struct {
	*File
	Versions []string // if only some of its versions are
}

// Snapshot is the state of a workspace at one time. It never changes.
type Snapshot struct {
	Files    []*File // in the order of the sources, each document once
	Changed  []*File // those that are not in the snapshot before
	Removed  []*File // those of the snapshot before whose documents are gone
	LeftOut  []LeftOut
	Failures []Failure

	findings func() []signpost.Finding
}

// Findings returns [FindingsTogether] of all files. It is determined once, when it is first asked for, because that
// takes much longer than reading one file.
func (s *Snapshot) Findings() []signpost.Finding { return s.findings() }

// Definitions returns the definitions of the files with a role.
func (s *Snapshot) Definitions(role Role) []*definition.File { return definitionsOf(s.Files, role) }

func definitionsOf(files []*File, role Role) []*definition.File {
	var definitions []*definition.File
	for _, f := range files {
		if f.Role == role && f.Definition != nil {
			definitions = append(definitions, f.Definition)
		}
	}
	return definitions
}

// FindingsTogether returns what is wrong in the judged ones of some files, alone and with all others, grouped by file
// and sorted by position.
func FindingsTogether(files []*File) []signpost.Finding {
	judged, beside := definitionsOf(files, Judged), definitionsOf(files, Beside)
	found := definition.LintTogether(judged, slices.Concat(beside, definitionsOf(files, Registered)))
	if len(beside) > 0 {
		found = append(found, clashes(judged, beside, found)...)
		Sort(found, files)
	}
	for _, f := range files {
		if f.Definition == nil {
			found = append(found, f.Findings()...)
		}
	}
	return found
}

// Sort sorts findings by file and position.
func Sort(findings []signpost.Finding, files []*File) {
	order := make(map[string]int, len(files))
	for i, f := range files {
		order[f.Name] = i
	}
	slices.SortStableFunc(findings, func(a, b signpost.Finding) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line, a.Column-b.Column)
	})
}

// FindingsOf returns what is wrong in one file, given its absolute path, as if it alone were judged: everything else is
// registered. It returns nil if there is no such file.
func (s *Snapshot) FindingsOf(path string) []signpost.Finding {
	at := slices.IndexFunc(s.Files, func(f *File) bool { return f.ID() == path })
	if at < 0 {
		return nil
	}
	files := make([]*File, 0, len(s.Files))
	for i, f := range s.Files {
		other := *f
		switch {
		case i == at:
			other.Role = Judged
		case f.FileID() == s.Files[at].FileID(): // listed by another name than the one that is being edited
			continue
		case f.Role == Judged:
			other.Role = Beside
		}
		files = append(files, &other)
	}
	return FindingsTogether(files)
}

// clashes returns findings about judged files with the base path of one beside them, except for those that have a
// finding about it already. Of two files that clash, the later one gets the finding, so those beside come first.
func clashes(judged, beside []*definition.File, found []signpost.Finding) []signpost.Finding {
	skip := make(map[string]bool)
	for _, f := range beside {
		skip[f.Name] = true
	}
	for _, f := range found {
		if f.Rule == definition.RuleBasePath {
			skip[f.File] = true
		}
	}
	return slices.DeleteFunc(definition.Errors(slices.Concat(beside, judged)...), func(f signpost.Finding) bool {
		return f.Rule != definition.RuleBasePath || skip[f.File]
	})
}

// Workspace follows sources. Its methods must not be called concurrently; its snapshots can be used anywhere.
type Workspace struct {
	opts    Options
	sources []Source
	unsaved map[string]string // texts that are laid over files, by absolute path
	read    Snapshot          // the files as last read, unparsed, and the failures
	last    *Snapshot
	known   map[string]*File // the files of last, by id
	parsed  int              // texts that were parsed
	forgets bool             // it drops texts that were parsed
}

// New returns a workspace of sources. The first call of Look reads them.
func New(opts Options, sources ...Source) *Workspace {
	return &Workspace{opts: opts, sources: sources, last: &Snapshot{findings: func() []signpost.Finding { return nil }}}
}

// Follow calls a function with a new snapshot whenever a file has changed, until ctx is canceled.
func (w *Workspace) Follow(ctx context.Context, changed func(*Snapshot)) {
	failures := fmt.Sprint(w.last.Failures)
	directories := func() []string { return source.Directories(w.Sources()) }
	watcher := source.Watcher{Directories: directories, Hasty: w.opts.Hasty}
	watcher.Run(ctx, func(bool) {
		s := w.Look()
		last := failures
		failures = fmt.Sprint(s.Failures)
		if len(s.Changed)+len(s.Removed) > 0 || failures != last {
			changed(s)
		}
	})
}

// Sources returns the sources.
func (w *Workspace) Sources() []source.Source {
	var all []source.Source
	for _, s := range w.sources {
		all = append(all, s.Source)
	}
	return all
}

// Lay lays texts over the files with these absolute paths, which are being edited, in this snapshot and the next ones.
// It reads nothing.
func (w *Workspace) Lay(unsaved map[string]string) *Snapshot {
	w.unsaved = unsaved
	w.parse()
	return w.last
}

// Look returns the current state. It is the last snapshot, with no file changed or removed, if there is nothing new.
func (w *Workspace) Look() *Snapshot {
	type reading struct {
		documents []source.Document
		err       error
	}
	readings := make([]reading, len(w.sources))
	var group errgroup.Group
	for i, s := range w.sources {
		group.Go(func() error { // at the same time, because some wait until files are at rest
			readings[i].documents, readings[i].err = s.Read()
			return nil
		})
	}
	group.Wait()
	texts := make(map[string][]byte) // that are not new, by name
	for _, f := range w.read.Files {
		texts[f.Name] = f.Text
	}
	w.read = Snapshot{}
	for i, s := range w.sources {
		if err := readings[i].err; err != nil {
			w.read.Failures = append(w.read.Failures, Failure{s.Source, s.Role, err})
		}
		for _, d := range readings[i].documents {
			if d.Text == nil {
				d.Text = texts[d.Name]
			}
			w.read.Files = append(w.read.Files, &File{Document: d, Role: s.Role, From: s.Source})
		}
	}
	w.parse()
	if w.forgets {
		w.Forget()
	}
	return w.last
}

// Forget drops the texts of all files, now and whenever they have been parsed. There must be no Lay after that.
func (w *Workspace) Forget() {
	w.forgets, w.read.Files = true, nil
	for _, f := range w.last.Files {
		if f.Text != nil { // otherwise others may be reading it
			f.Text = nil
		}
	}
}

// parse makes a snapshot of what was read and laid over it the last one. Files that have not changed are those of the
// one before.
func (w *Workspace) parse() {
	read := slices.Clone(w.read.Files)
	for _, path := range slices.Sorted(maps.Keys(w.unsaved)) {
		read = append(read, &File{Document: source.At(path), Role: Unlisted})
	}
	next := &Snapshot{Failures: w.read.Failures}
	known := make(map[string]*File, len(read))
	isRead := make(map[string]bool, len(read)) // by file id
	var files []*File
	for _, f := range read {
		id, fileID := f.Document.ID(), f.FileID()
		if known[id] != nil || isRead[fileID] && f.Role != Unlisted {
			continue // a file can be named by itself, by its directory and through a symbolic link
		}
		isRead[fileID] = true
		if text, ok := w.unsaved[id]; ok {
			unsaved := *f
			unsaved.Text, unsaved.Sum = []byte(text), ""
			f = &unsaved
		}
		if f.Sum == "" { // it is not watched
			f.Sum = source.SumOf(f.Text)
		}
		old := w.known[id]
		isKnown := old != nil && old.Sum == f.Sum
		isSame := isKnown && old.Role == f.Role && old.Name == f.Name
		if isSame || isKnown && f.Text == nil { // a text that is not new may be left out
			f = old
		} else {
			fresh := *f // an earlier snapshot may have the other one
			fresh.id = id
			f = &fresh
			next.Changed = append(next.Changed, f)
		}
		known[id] = f
		files = append(files, f)
	}
	for _, f := range w.last.Files {
		if known[f.ID()] == nil {
			next.Removed = append(next.Removed, f)
		}
	}
	w.parsed += len(next.Changed)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range next.Changed {
		group.Go(func() error {
			w.parseFile(f)
			if w.opts.Prepare != nil {
				f.Prepared = w.opts.Prepare(f)
			}
			return nil
		})
	}
	group.Wait()
	files, next.LeftOut = withoutStates(files)
	next.Files, next.findings = files, w.last.findings
	if len(next.Changed)+len(next.Removed) > 0 || len(files) == 0 {
		next.findings = sync.OnceValue(func() []signpost.Finding { return FindingsTogether(files) })
	}
	w.last, w.known = next, known
}

// withoutStates leaves out the definitions of the project of which something judged is another state: a git revision,
// an artifact or standard input that has a service with the same base path. Of a manifest, it leaves out the version.
func withoutStates(all []*File) (files []*File, leftOut []LeftOut) {
	isBeside := func(f *File) bool { return f.Role == Beside }
	if !slices.ContainsFunc(all, isBeside) { // a server has none, and may have thousands of files
		return all, nil
	}
	isState := make(map[string]bool) // by base path
	left := definitionsOf(all, Beside)
	for _, f := range all {
		switch {
		case f.Role != Judged || f.Definition == nil:
		case f.Definition.Served():
			left = f.Definition.WithoutStates(left)
		case !f.IsFile():
			isState[f.Definition.State(nil).BasePath] = true
		}
	}
	for _, f := range all {
		if f.Role != Beside || f.Definition == nil {
			files = append(files, f)
			continue
		}
		rest := left[0]
		left = left[1:]
		base := f.Definition.State(nil).BasePath
		isLeft := func(version string) bool { return slices.Contains(rest.Versions(), version) }
		switch out := slices.DeleteFunc(f.Definition.Versions(), isLeft); {
		case base != "" && isState[base], len(out) > 0 && len(rest.Versions()) == 0:
			leftOut = append(leftOut, LeftOut{f, nil})
		case len(out) > 0:
			leftOut = append(leftOut, LeftOut{f, out})
			other := *f
			other.Definition, other.Sum = rest, source.Sum(fmt.Sprint(f.Sum, " without ", out))
			files = append(files, &other)
		default:
			files = append(files, f)
		}
	}
	return files, leftOut
}

// parseFile parses a file. A panic becomes a finding, so that one definition never keeps others from being used.
func (w *Workspace) parseFile(f *File) {
	f.findings = sync.OnceValue(func() (found []signpost.Finding) {
		defer func() {
			if cause := recover(); cause != nil {
				defect := Defect(f.Name, "the definition cannot be judged: %v\n%s", cause, debug.Stack())
				found = []signpost.Finding{defect}
			}
		}()
		return definition.Lint(f.Definition)
	})
	defer func() {
		if cause := recover(); cause != nil {
			defect := Defect(f.Name, "the definition cannot be read: %v\n%s", cause, debug.Stack())
			f.findings = func() []signpost.Finding { return []signpost.Finding{defect} }
		}
	}()
	if f.Role == Registered || w.opts.Manifests && f.Manifest() {
		f.Definition = f.Parse()
	} else {
		f.Definition = w.opts.Definition.Parse(f.Name, f.Text)
	}
}

// Defect returns a finding about a bug in Signpost that a definition brought to light.
func Defect(name, format string, args ...any) signpost.Finding {
	return signpost.Finding{
		Rule: "defect", Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...),
		File: name, Line: 1, Column: 1, Hint: "this is a bug in Signpost: please report it with the definition",
	}
}
