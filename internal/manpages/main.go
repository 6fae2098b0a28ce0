// Command manpages writes the man pages of Signpost's commands into a directory. The release build runs it:
//
//	go run ./internal/manpages v1.0.0 2026-01-31 man
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

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
	c := &cli.CLI{LookupEnv: func(string) (string, bool) { return "", false }}
	for name, page := range c.ManPages(args[0], date) {
		if err := os.WriteFile(filepath.Join(args[2], name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}
