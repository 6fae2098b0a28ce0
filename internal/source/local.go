package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"

	"signpost/definition"
)

const (
	// restTime is how long a file must have been unchanged before it is read. It is longer than writing one takes: a
	// file read while being overwritten can be part old and part new, and still be well-formed.
	restTime = 100 * time.Millisecond

	// maxHashed is how many files that look unchanged are hashed at a time. Thousands of them take their turns: hashing 2,000
	// every LookInterval took 7 % of a core.
	maxHashed = 100

	// maxRests is how often a file that keeps changing is waited for.
	maxRests = 20
)

// local is a file or a directory of files that is followed. A file has changed if its digest has. It is only hashed if it
// is the same as before by device, inode, size and modification time, and otherwise read once it rests. maxHashed files
// are hashed at a time.
type local struct {
	path string
	note func(message string)

	files     map[string]localFile // by name
	documents []Document
	turn      int // the number of the file to hash next
}

// localFile is a file as it was last read.
type localFile struct {
	info     fs.FileInfo // nil if it could not be read again
	document Document
	other    bool // not a definition, and never was
}

// sameFile reports whether a file has not changed between two calls of os.Stat.
func sameFile(a, b fs.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// changed reports whether the text of a file is not what it was, as far as it can be read.
func (f localFile) changed(name string) bool {
	now, err := file{name: name}.read()
	return err != nil || digest.FromBytes(now.Text) != f.document.Sum
}

func (l *local) Name() string { return l.path }

func (l *local) Read() ([]Document, bool, error) {
	listed, _, err := list(l.path)
	if err != nil {
		return l.documents, false, err
	}
	files := make(map[string]localFile, len(listed))
	var documents []Document
	var errs []error
	for i, f := range listed {
		known, before := l.files[f.name]
		due := (i-l.turn+len(listed))%len(listed) < maxHashed
		if !sameFile(known.info, f.info) || due && known.changed(f.name) {
			now, err := readAtRest(f)
			switch {
			case errors.Is(err, fs.ErrNotExist) && !f.named: // removed since the directory was listed
				continue
			case err != nil:
				errs = append(errs, err)
				if !before {
					continue
				}
				now.document, now.other = known.document, known.other
			default:
				// A truncated definition still counts as one, so that it is rejected and not withdrawn.
				now.other = !f.named && !definition.IsDefinition(f.name, now.document.Text) && (!before || known.other)
				if now.other && !before {
					l.note(skippedNote(f.name))
				}
			}
			known = now
		}
		files[f.name] = known
		if !known.other {
			documents = append(documents, known.document)
		}
	}
	if len(documents)+len(errs) == 0 {
		return l.documents, false, readError(l.path, errNoDefinitions)
	}
	l.turn = (l.turn + maxHashed) % len(listed)
	changed := !slices.EqualFunc(documents, l.documents, sameDocument)
	l.files, l.documents = files, documents
	return slices.Clone(documents), changed, errors.Join(errs...)
}

// readAtRest reads a file once it has been unchanged for restTime.
func readAtRest(f file) (localFile, error) {
	for range maxRests {
		wait := restTime - time.Since(f.info.ModTime())
		time.Sleep(min(wait, restTime)) // no longer than restTime, in case the clock of the file system is ahead
		document, err := f.read()
		if err != nil {
			return localFile{}, err
		}
		info, err := os.Stat(f.name)
		if err != nil {
			return localFile{}, readError(f.name, err)
		}
		if sameFile(f.info, info) {
			document.Sum = digest.FromBytes(document.Text)
			return localFile{info: info, document: document}, nil
		}
		f.info = info
	}
	return localFile{}, readError(f.name, fmt.Errorf("it changes all the time, and was never unchanged for %v", restTime))
}
