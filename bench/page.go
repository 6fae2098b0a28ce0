package main

import (
	"fmt"
	"os"
	"strings"
)

// refresh replaces the text between the two comments that delimit a section of a page.
func refresh(page, section, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- bench: "+section+" -->\n", "<!-- end of "+section+" -->"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no %s and %s: put them where the results are to go", page, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+strings.TrimSpace(text)+"\n\n"+end+after), 0o644)
}
