package source

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
)

const (
	// restTime is how long a file must have been unchanged before it is read. It is longer than writing one takes: a
	// file read while being overwritten can be part old and part new, and still be well-formed.
	restTime = 100 * time.Millisecond

	// hastyRest is that for somebody who is waiting. An editor writes a file at once, or in a few steps within that.
	hastyRest = 20 * time.Millisecond

	// maxRests is how often files that keep changing are waited for.
	maxRests = 20

	// timeStep is the coarsest step in which file systems record modification times. A file that was written less than
	// that before it was read may change without a trace, so it is read again.
	timeStep = 2 * time.Second
)

// local is a file, a directory of files or a pattern that is followed. A file is read again if its device, inode, mode,
// size or modification time has changed, or if that time is not older than the last read. It has changed if its digest
// has.
type local struct {
	path  string
	match func(path string) ([]file, []string, error) // list or listPattern
	rest  time.Duration                               // how long a file must have been unchanged
	note  func(message string)                        // may be nil

	manifests bool // it stands for those in a directory, too

	files       map[string]localFile // by name
	documents   []Document           // without texts
	directories []string             // to watch for changes
}

// local returns the source for a path.
func (r *Reader) local(path string) *local {
	l := &local{
		path: path, match: list, rest: restTime, note: r.Note, manifests: r.Manifests,
		files: make(map[string]localFile),
	}
	if r.Patterns {
		l.match = listPattern
	}
	if r.Hasty {
		l.rest = 0
	}
	return l
}

// localFile is a file as it was last read.
type localFile struct {
	info     fs.FileInfo // nil if it could not be read again
	readAt   time.Time
	document Document
	other    bool // not a definition, and never was
}

// sameFile reports whether a file has not changed between two calls of os.Stat. With another mode, it may have become
// unreadable, as it would be at the next start.
func sameFile(a, b fs.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// recheck reads a file that looks unchanged again if it may have changed after all, and reports whether it has.
func (f *localFile) recheck(name string) bool {
	if f.readAt.Sub(f.info.ModTime()) > timeStep {
		return false
	}
	readAt := time.Now()
	now, err := file{name: name}.read()
	if err != nil || digest.FromBytes(now.Text) != f.document.Sum {
		return true
	}
	f.readAt = readAt
	return false
}

func (l *local) Name() string { return l.path }

func (l *local) Read() ([]Document, error) {
	documents, failures := l.read()
	return documents, errors.Join(failures...)
}

// read is Read with an error for each file that cannot be read.
func (l *local) read() (_ []Document, failures []error) {
	listed, directories, err := l.match(l.path)
	l.directories = directories
	if err != nil {
		return l.documents, []error{err}
	}
	files := make(map[string]localFile, len(listed))
	var changed []file
	for _, f := range listed {
		known := l.files[f.name]
		if !sameFile(known.info, f.info) || known.recheck(f.name) {
			changed = append(changed, f)
		}
		files[f.name] = known
	}
	read, errs := l.readAtRest(changed)
	var others []string // new ones
	for _, f := range changed {
		known, before := l.files[f.name]
		now, ok := read[f.name]
		switch {
		case ok:
			// A truncated definition still counts as one, so that it is rejected and not withdrawn.
			now.other = !f.named && (!before || known.other) && !now.document.meant(l.manifests)
			if now.other && !before {
				others = append(others, f.name)
			}
			files[f.name] = now
		case before && errs[f.name] != nil:
			files[f.name] = localFile{document: known.document, other: known.other}
		default:
			delete(files, f.name)
		}
	}
	if l.note != nil && len(others) > 0 {
		l.note(skippedNote(others))
	}
	var documents []Document
	for _, f := range listed {
		if known, ok := files[f.name]; ok && !known.other {
			documents = append(documents, known.document)
		}
		if errs[f.name] != nil {
			failures = append(failures, errs[f.name])
		}
	}
	if len(documents) == 0 {
		for name, f := range files {
			if f.other { // which is told once
				l.files[name] = f
			}
		}
		if len(failures) == 0 {
			failures = []error{readError(l.path, ErrNoDefinitions)}
		}
		return l.documents, failures
	}
	l.files, l.documents = files, slices.Clone(documents)
	for i := range l.documents {
		l.documents[i].Text = nil
	}
	for name, f := range files {
		f.document.Text = nil
		files[name] = f
	}
	return documents, failures
}

// readAtRest reads files once each has been unchanged for a while, and returns them and the errors by name. It waits
// for all of them at once. A file that was removed since it was listed is in neither.
func (l *local) readAtRest(waiting []file) (read map[string]localFile, errs map[string]error) {
	read, errs = make(map[string]localFile), make(map[string]error)
	for rests := 0; rests < maxRests && len(waiting) > 0; rests++ {
		var wait time.Duration
		for _, f := range waiting {
			wait = max(wait, l.rest-time.Since(f.info.ModTime()))
		}
		time.Sleep(min(wait, l.rest)) // no longer than that, in case the clock of the file system is ahead
		var changed []file
		for _, f := range waiting {
			now := localFile{readAt: time.Now()}
			var err error
			now.document, err = f.read()
			if err == nil {
				now.info, err = os.Stat(f.name)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist) && !f.named:
			case err != nil:
				errs[f.name] = readError(f.name, err)
			case sameFile(f.info, now.info):
				now.document.Sum = digest.FromBytes(now.document.Text)
				read[f.name] = now
			default:
				f.info = now.info
				changed = append(changed, f)
			}
		}
		waiting = changed
	}
	for _, f := range waiting {
		errs[f.name] = readError(f.name, errors.New("it changes all the time"))
	}
	return read, errs
}
