// Command manpages writes the man pages of Signpost's commands, and its completion scripts, into a directory. The
// release build runs it:
//
//	go -C tools/manpages run . v1.0.0 2026-01-31 /tmp/man
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"

	"signpost/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("takes a version, a date and a directory, not %q", args)
	}
	date, err := time.Parse(time.DateOnly, args[1])
	if err != nil {
		return err
	}
	root := new(cli.CLI).Command()
	root.DisableAutoGenTag = true
	for _, cmd := range append(root.Commands(), root) {
		cmd.Long = markdown(cmd.Long)
	}
	file := func(name string) string { return filepath.Join(args[2], name) }
	return errors.Join(
		root.GenBashCompletionFileV2(file("signpost.bash"), true),
		root.GenZshCompletionFile(file("_signpost")),
		root.GenFishCompletionFile(file("signpost.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(file("signpost.ps1")),
		doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "signpost " + args[0], Manual: "Signpost"}, args[2]),
	)
}

// markup escapes the characters that Markdown would take as markup.
var markup = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "`", "\\`")

// markdown turns a help text into the Markdown that cobra/doc expects: indented paragraphs are code.
func markdown(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		} else {
			paragraphs[i] = markup.Replace(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
