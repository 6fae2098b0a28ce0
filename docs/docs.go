// Package docs holds the pages that the command line quotes.
package docs

import _ "embed"

// Rules is the page about the rules of lint, in Markdown, with a section for each.
//
//go:embed rules.md
var Rules string

// Diff is the page about diff, in Markdown, with a table of its rules.
//
//go:embed diff.md
var Diff string
