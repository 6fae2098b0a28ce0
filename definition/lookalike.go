package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/spell"
)

// keyAt is a context key that a file uses, with its first place.
type keyAt struct {
	key  string
	uses int
	at   endpointAt
}

// sharedKey is a context key of files that are registered together.
type sharedKey struct {
	key   string
	uses  int
	known bool   // listed in a catalogue
	where string // its first use
	like  int    // index of the key that it is probably a misspelling of, or -1
}

// lookalikes returns warnings about context keys that look like those of another file: all apps have the same keys.
// [decoder.lintLookalikes] compares those of the same file.
func lookalikes(files, registered []*File, used map[*allowance]bool) []signpost.Finding {
	if len(files)+len(registered) < 2 {
		return nil
	}
	keys, numbers := sharedKeys(files, registered)
	compareKeys(keys)
	var findings []signpost.Finding
	for _, f := range files {
		own := make(map[string]bool, len(f.keyUses))
		for _, use := range f.keyUses {
			own[use.key] = true
		}
		for _, use := range f.keyUses {
			like := keys[numbers[use.key]].like
			if like < 0 || own[keys[like].key] || use.at.allows(RuleContextKeyLookalike, used) {
				continue
			}
			findings = append(findings, signpost.Finding{
				Rule: RuleContextKeyLookalike, Severity: signpost.SeverityWarning,
				Message: fmt.Sprintf("context key %q looks like %q (%s)", use.key, keys[like].key, keys[like].where),
				Hint:    "correct it, or list both in context_keys",
				File:    f.Name, Line: use.at.line, Column: use.at.column, Width: use.at.width,
			})
		}
	}
	return findings
}

// sharedKeys returns the keys of all files, without duplicates, and their indexes.
func sharedKeys(files, registered []*File) (keys []sharedKey, numbers map[string]int) {
	numbers = make(map[string]int)
	add := func(key, where string) *sharedKey {
		i, ok := numbers[key]
		if !ok {
			i = len(keys)
			numbers[key] = i
			keys = append(keys, sharedKey{key: key, where: where, like: -1})
		}
		return &keys[i]
	}
	builtIn := builtInKeys()
	for _, some := range [][]*File{files, registered} {
		for _, f := range some {
			for _, use := range f.keyUses {
				where := f.Name // of a manifest, which is probably a single line
				if !f.served {
					where = fmt.Sprintf("%s:%d", f.Name, use.at.line)
				}
				k := add(use.key, where)
				k.uses += use.uses
				if _, ok := builtIn[use.key]; ok {
					k.known = true
				}
			}
			for _, key := range slices.Sorted(maps.Keys(f.contextKeys)) {
				add(key, f.Name).known = true
			}
		}
	}
	return keys, numbers
}

// compareKeys finds out which keys are probably misspelt: those that are in no catalogue, and look like one that is or
// that is used more often.
func compareKeys(keys []sharedKey) {
	work := 0
	for i := range keys {
		k := &keys[i]
		for j, other := range keys {
			if k.known || k.like >= 0 {
				break
			}
			if work += (len(k.key) + 1) * (len(other.key) + 1); work > maxCompared {
				return
			}
			rarer := other.known || k.uses < other.uses || k.uses == other.uses && j < i
			if rarer && lookAlike(k.key, other.key) {
				k.like = j
			}
		}
	}
}

// lookAlike reports whether one key is probably a misspelling of the other: one or two letters differ, but not so many
// of a part that it is a different word, as in device.id and device.os. Keys that differ in digits are numbered.
func lookAlike(a, b string) bool {
	isDigit := func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}
	if strings.Map(isDigit, a) == strings.Map(isDigit, b) {
		return false
	}
	partsA, partsB := strings.Split(a, "."), strings.Split(b, ".")
	if len(partsA) != len(partsB) {
		return similar(a, b)
	}
	for i := range partsA {
		if partsA[i] != partsB[i] && !similar(partsA[i], partsB[i]) {
			return false
		}
	}
	return spell.Distance(a, b) <= 2
}

// similar reports whether at most a third of the letters, and no more than two, differ.
func similar(a, b string) bool {
	distance := spell.Distance(a, b)
	return distance <= 2 && 3*distance <= max(len(a), len(b))
}
