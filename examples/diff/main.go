// Command diff compares two definitions of a service and fails if a change breaks studios that registered the old one.
package main

import (
	"fmt"
	"log"
	"os"

	"signpost/definition"
	"signpost/diff"
)

func main() {
	var files []*definition.File
	for _, name := range os.Args[1:3] {
		text, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		files = append(files, definition.Parse(name, text))
	}
	changes, err := definition.Diff(files[0], files[1])
	if err != nil {
		log.Fatal(err)
	}
	status := 0
	for _, c := range changes {
		fmt.Printf("%s: %s [%s]\n", c.Level, c.Message, c.Rule)
		if c.Level == diff.Breaking {
			status = 1
		}
	}
	os.Exit(status)
}
