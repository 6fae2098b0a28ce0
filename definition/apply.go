package definition

import (
	"cmp"
	"slices"

	"signpost"
	"signpost/internal/tree"
)

// Fixed is a definition after its fixes have been applied.
type Fixed struct {
	Text    []byte             // bytes that are not part of a fix are unchanged
	Applied []signpost.Finding // the fixed findings, with their positions at the time
	File    *File              // the new text parsed, with the remaining findings
}

// maxRounds limits how often a file is parsed again to apply fixes that touch each other. Fixes nest a few levels deep.
const maxRounds = 100

// Fix applies the fixes of a definition. Fixes that touch each other are applied one after the other. A fix that would
// leave more errors than before is not applied.
func (o Options) Fix(name string, text []byte) Fixed {
	f := Fixed{Text: text, File: o.Parse(name, text)}
	seen := map[string]bool{string(text): true}
	for range maxRounds {
		fixable := apart(f.File.only(func(f signpost.Finding) bool { return f.Fix != nil }))
		applied := len(fixable) > 0 && o.try(&f, fixable, seen)
		for i := 0; i < len(fixable) && !applied; i++ { // one of them does harm: apply the first that does not
			applied = o.try(&f, fixable[i:i+1], seen)
		}
		if !applied {
			break
		}
	}
	return f
}

// try applies the fixes of findings together and reports whether the result is no worse.
func (o Options) try(f *Fixed, findings []signpost.Finding, seen map[string]bool) bool {
	var fixes []signpost.Fix
	for _, finding := range findings {
		fixes = append(fixes, *finding.Fix)
	}
	text := ApplyFixes(f.File.Name, f.Text, fixes...)
	if seen[string(text)] {
		return false
	}
	seen[string(text)] = true
	file := o.Parse(f.File.Name, text)
	if !noWorse(file, f.File) {
		return false
	}
	f.Text, f.File, f.Applied = text, file, append(f.Applied, findings...)
	return true
}

// noWorse reports whether a file has no more errors than before and, if equal, no more findings.
func noWorse(now, before *File) bool {
	return cmp.Or(len(now.only(isError))-len(before.only(isError)), len(now.findings)-len(before.findings)) <= 0
}

// apart returns the findings whose fixes come after those of the chosen ones before them, and do not touch them.
// Another round has the others.
func apart(findings []signpost.Finding) []signpost.Finding {
	var chosen []signpost.Finding
	var reached signpost.Edit // the last one so far
	for _, f := range findings {
		first, last := f.Fix.Edits[0], f.Fix.Edits[len(f.Fix.Edits)-1]
		if cmp.Or(first.Line-reached.EndLine, first.Column-reached.EndColumn) > 0 {
			chosen, reached = append(chosen, f), last
		}
	}
	return chosen
}

// ApplyFixes applies fixes to the text of a definition file. The fixes must not overlap. The name is that of the file,
// as for [Parse].
func ApplyFixes(name string, text []byte, fixes ...signpost.Fix) []byte {
	doc := tree.Positions(text, isJSON(name, text))
	var edits []signpost.Edit
	for _, fix := range fixes {
		edits = append(edits, fix.Edits...)
	}
	// Those at the end first, so that the positions of the others stay right.
	slices.SortFunc(edits, func(a, b signpost.Edit) int { return cmp.Or(b.Line-a.Line, b.Column-a.Column) })
	out := slices.Clone(text)
	before := len(text) - len(doc.Text) // a byte order mark
	for _, e := range edits {
		start, end := doc.Offset(e.Line, e.Column), doc.Offset(e.EndLine, e.EndColumn)
		out = slices.Replace(out, before+start, before+end, []byte(e.Text)...)
	}
	return out
}
