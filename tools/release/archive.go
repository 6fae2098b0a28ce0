package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file in an archive or an image.
type entry struct {
	name   string
	source string
	mode   fs.FileMode
}

// documentation returns the pages that README leads to, and their pictures, as paths in the repository.
func documentation(repo string) []string {
	pages := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, kind := range []string{"*.md", "*.png", "*.svg"} {
		found, _ := fs.Glob(os.DirFS(repo), "docs/"+kind) // only a malformed pattern is an error
		pages = append(pages, found...)
	}
	return pages
}

// examples returns the files of deploy and examples, without Go tests, as paths in the repository.
func examples(repo string) ([]string, error) {
	var found []string
	for _, top := range []string{"deploy", "examples"} {
		err := fs.WalkDir(os.DirFS(repo), top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name == "deploy/test":
				return fs.SkipDir
			case d.Type().IsRegular() && !strings.HasSuffix(name, "_test.go"):
				found = append(found, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// archives writes an archive for each platform: the binary and the files that go with it.
func (r *release) archives() error {
	for _, b := range r.binaries {
		name := fmt.Sprintf("signpost_%s_%s_%s", r.number(), b.goos, b.goarch)
		write, suffix, program := writeTarGz, ".tar.gz", "signpost"
		if b.goos == "windows" {
			write, suffix, program = writeZip, ".zip", "signpost.exe"
		}
		entries := []entry{{program, b.path, 0o755}}
		for _, file := range slices.Concat(r.pages, r.examples, []string{"THIRD_PARTY_LICENSES"}) {
			entries = append(entries, entry{file, filepath.Join(r.repo, file), 0o644})
		}
		for _, file := range completions {
			entries = append(entries, entry{"completions/" + file, filepath.Join(r.work, file), 0o644})
		}
		for _, page := range r.manPages {
			entries = append(entries, entry{"man/man1/" + filepath.Base(page), page, 0o644})
		}
		for i := range entries {
			entries[i].name = path.Join(name, entries[i].name)
		}
		if err := writeFile(filepath.Join(r.out, name+suffix), func(w io.Writer) error { return write(w, entries, r.date) }); err != nil {
			return err
		}
	}
	return nil
}

// writeFile creates a file with the output of write, and removes it if that fails.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

func writeTarGz(w io.Writer, entries []entry, date time.Time) error {
	compressed := gzip.NewWriter(w) // no name or time, to be reproducible
	if err := writeTar(compressed, entries, date); err != nil {
		return err
	}
	return compressed.Close()
}

// writeTar writes files and the directories above them, all with the same date and owned by root.
func writeTar(w io.Writer, entries []entry, date time.Time) error {
	out := tar.NewWriter(w)
	written := make(map[string]bool) // directories already written
	for _, e := range entries {
		for i, c := range e.name {
			dir := e.name[:i+1] // if it ends in a slash
			if c != '/' || written[dir] {
				continue
			}
			written[dir] = true
			header := &tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: date, Format: tar.FormatUSTAR}
			if err := out.WriteHeader(header); err != nil {
				return err
			}
		}
		text, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(text)), Mode: int64(e.mode), ModTime: date, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return out.Close()
}

func writeZip(w io.Writer, entries []entry, date time.Time) error {
	out := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date}
		header.SetMode(e.mode)
		file, err := out.CreateHeader(header)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		if _, err := file.Write(text); err != nil {
			return err
		}
	}
	return out.Close()
}

// gzipped compresses a file, as required for installed man pages.
func gzipped(source string) ([]byte, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(text)
	err = w.Close()
	return out.Bytes(), err
}

// checksums writes SHA256SUMS for all files of the release, in the format of sha256sum -c.
func (r *release) checksums() error {
	var lines bytes.Buffer // in the order of the names, as files are walked
	err := filepath.WalkDir(r.out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.out, file)
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), lines.Bytes(), 0o644)
}
