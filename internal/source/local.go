package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// restTime is how long a file must not have changed to be read. It is longer than it takes to write one: what is
	// read while it is overwritten can be part old and part new, and well-formed.
	restTime = 100 * time.Millisecond

	// patience is how long a file may be written to without a rest before that is an error.
	patience = 2 * time.Second

	// racyTime is how long after its last change a file is still read again, whatever its times say. File systems
	// have clocks that stand still for up to two seconds, and a second change in that time does not show.
	racyTime = 2 * time.Second
)

// local is a file, or a directory of them. Files are told apart by their identity and times, and read only if these
// have changed.
type local struct {
	path  string
	opts  Options
	now   func() time.Time    // time.Now, but for tests
	sleep func(time.Duration) // time.Sleep, but for tests

	files       map[string]localFile // by name
	directories []directory          // that were listed; none for a file
	settled     bool                 // all of it could be read, and identities tell whether it has changed since
	documents   []Document
}

// localFile is a file as it was last read.
type localFile struct {
	identity identity
	trusted  bool // it had not changed for so long that its identity tells whether it has changed since
	document Document
	other    bool // not a definition, and never was
}

func newLocal(path string, opts Options) *local {
	return &local{path: path, opts: opts, now: time.Now, sleep: time.Sleep}
}

func (l *local) Name() string { return l.path }

func (l *local) Read() ([]Document, bool, error) {
	if l.settled && l.unchanged() {
		return l.documents, false, nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), DefaultTimeout, fmt.Errorf("not read within %v", DefaultTimeout))
	defer cancel()
	l.settled = false
	listed, isDirectory, err := l.list()
	if err != nil {
		return l.documents, false, err
	}
	files := make(map[string]localFile, len(listed))
	var changed []file
	for _, f := range listed {
		if known, ok := l.files[f.name]; ok && known.trusted && known.identity == identityOf(f.info) {
			known.document.Text = nil
			files[f.name] = known
		} else {
			changed = append(changed, f)
		}
	}
	errs := l.readChanged(ctx, changed, files, isDirectory)

	var documents []Document
	for _, f := range listed {
		if read, ok := files[f.name]; ok && !read.other {
			documents = append(documents, read.document)
		}
	}
	if len(documents)+len(errs) == 0 {
		return l.documents, false, noDefinitions(l.path, len(listed))
	}
	same := func(a, b Document) bool { return a.Name == b.Name && a.Sum == b.Sum }
	news := !slices.EqualFunc(documents, l.documents, same)
	l.files, l.settled = files, len(errs) == 0 && l.trusted(files)
	l.documents = slices.Clone(documents)
	for i := range l.documents {
		l.documents[i].Text = nil
	}
	return documents, news, errors.Join(errs...)
}

// list returns the files that may be definitions. A file that was named is one.
func (l *local) list() (files []file, isDirectory bool, err error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return nil, false, readError(l.path, err)
	}
	if !info.IsDir() {
		return []file{{name: l.path, path: filepath.Base(l.path), info: info}}, false, nil
	}
	files, directories, err := listDirectory(l.path)
	if err == nil {
		l.directories = directories
	}
	return files, true, err
}

// trusted reports whether the files and the directories had not changed for so long, when they were read, that their
// identities tell whether they have changed since.
func (l *local) trusted(files map[string]localFile) bool {
	now := l.now()
	for _, dir := range l.directories {
		if dir.identity.age(now) <= racyTime {
			return false
		}
	}
	for _, f := range files {
		if !f.trusted {
			return false
		}
	}
	return true
}

// unchanged reports whether all files and directories are as they were. This is what a server does nearly always, so it
// takes one system call for each and nearly no memory.
func (l *local) unchanged() bool {
	for _, dir := range l.directories {
		if now, ok := statIdentity(dir.name); !ok || now != dir.identity {
			return false
		}
	}
	for name, f := range l.files {
		if now, ok := statIdentity(name); !ok || now != f.identity {
			return false
		}
	}
	return true
}

// readChanged reads files into the map. For one that cannot be read, what was read before is put there.
func (l *local) readChanged(ctx context.Context, changed []file, files map[string]localFile, isDirectory bool) []error {
	results, failures := make([]localFile, len(changed)), make([]error, len(changed))
	inParallel(len(changed), func(i int) {
		results[i], failures[i] = l.readAtRest(ctx, changed[i], !isDirectory)
	})
	var errs []error
	for i, f := range changed {
		known, before := l.files[f.name]
		switch err := failures[i]; {
		case errors.Is(err, fs.ErrNotExist) && isDirectory: // gone since the directory was listed
		case err != nil:
			errs = append(errs, err)
			if before {
				known.document.Text, known.trusted = nil, false
				files[f.name] = known
			}
		default:
			read := results[i]
			// A definition that is cut off is still one, so that it is rejected and not withdrawn.
			read.other = isDirectory && !IsDefinition(read.document) && (!before || known.other)
			if before && known.document.Sum == read.document.Sum {
				read.document.Text = nil
			}
			if read.other && !before {
				l.opts.Note(skippedNote(f.name))
			}
			files[f.name] = read
		}
	}
	return errs
}

// readAtRest reads a file once it has not changed for restTime. One that was named may be a pipe, which has no rest.
func (l *local) readAtRest(ctx context.Context, f file, named bool) (localFile, error) {
	for start := l.now(); ; {
		before := identityOf(f.info)
		read := f.read
		if named && !f.info.Mode().IsRegular() {
			read = func(ctx context.Context) (Document, error) {
				text, err := readFile(ctx, f.name)
				return Document{Name: f.name, Path: f.path, Text: text}, err
			}
		}
		if wait := restTime - before.age(l.now()); wait > 0 && f.info.Mode().IsRegular() {
			l.sleep(min(wait, restTime)) // no longer, if the clock of the file system is ahead
		}
		document, err := read(ctx)
		if err != nil {
			return localFile{}, err
		}
		now := l.now()
		info, err := os.Stat(f.name)
		if err != nil {
			return localFile{}, readError(f.name, err)
		}
		f.info = info
		if after := identityOf(info); after == before {
			document.Sum = sumOf(document.Text)
			return localFile{identity: after, trusted: after.age(now) > racyTime, document: document}, nil
		}
		if now.Sub(start) > patience {
			return localFile{}, readError(f.name, fmt.Errorf("it is being written to for more than %v", patience))
		}
	}
}

// Directories returns the directories in which files of the sources may appear, change and go, for a [Watcher]. They are
// those that the last Read found.
func Directories(sources []Source) []string {
	all := make(map[string]bool)
	for _, s := range sources {
		if l, ok := s.(*local); ok {
			all[filepath.Dir(l.path)] = all[filepath.Dir(l.path)] || len(l.directories) == 0 // where a file is replaced
			for _, dir := range l.directories {
				all[dir.name] = true
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, watched bool) bool { return !watched })
	return slices.Sorted(maps.Keys(all))
}
