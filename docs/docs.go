// Package docs embeds the pages that the command line quotes.
package docs

import _ "embed"

// Rules is the page about lint rules, in Markdown, with a section for each rule.
//
//go:embed rules.md
var Rules string

// Diff is the page about diff, in Markdown, with a table of its rules.
//
//go:embed diff.md
var Diff string
