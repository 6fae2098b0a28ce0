package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"signpost/diff"
	"signpost/internal/spell"
)

const accepted diff.Level = "accepted"

// levels lists the levels of changes, most severe first.
var levels = []diff.Level{diff.Breaking, diff.Notable, diff.Compatible, accepted}

// levelOf returns the level of a change, or that it is accepted.
func levelOf(change diff.AcceptedChange) diff.Level {
	if change.Accepted != nil {
		return accepted
	}
	return change.Level
}

// summary counts the changes by level, and accepted ones separately.
func summary(changes []diff.AcceptedChange) string {
	if len(changes) == 0 {
		return "no changes"
	}
	counts := make(map[diff.Level]int)
	for _, change := range changes {
		counts[levelOf(change)]++
	}
	var parts []string
	for _, level := range levels {
		if level != accepted || counts[level] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[level], level))
		}
	}
	return spell.Count(len(changes), "change") + ": " + strings.Join(parts, ", ")
}

// changeGroup is the same change to several endpoints of a service, for example that of a shared modifier.
type changeGroup struct {
	diff.AcceptedChange          // the first one
	versions            []string // of all of them
	others              int
}

// groupChanges groups the changes, most severe first and accepted ones last, otherwise in order.
func groupChanges(changes []diff.AcceptedChange) []*changeGroup {
	type identity struct{ rule, service, message, reason, until string }
	var groups []*changeGroup
	known := make(map[identity]*changeGroup)
	for _, change := range changes {
		id := identity{rule: change.Rule, service: change.Service, message: change.Message}
		if a := change.Accepted; a != nil {
			id.reason, id.until = a.Reason, a.Until
		}
		g := known[id]
		if g == nil || change.Endpoint == "" {
			g = &changeGroup{AcceptedChange: change}
			groups = append(groups, g)
			if change.Endpoint != "" {
				known[id] = g
			}
		} else {
			g.others++
			g.Requests = g.Requests.Add(change.Requests)
		}
		if change.Version != "" && !slices.Contains(g.versions, change.Version) {
			g.versions = append(g.versions, change.Version)
		}
	}
	weight := func(g *changeGroup) int { return slices.Index(levels, levelOf(g.AcceptedChange)) }
	slices.SortStableFunc(groups, func(a, b *changeGroup) int { return cmp.Compare(weight(a), weight(b)) })
	return groups
}

// andOthers counts the other endpoints of the group.
func (g *changeGroup) andOthers() string {
	if g.others == 0 {
		return ""
	}
	return " and " + spell.Count(g.others, "other endpoint")
}

// message returns the message with the number of requests that it concerns, if that is known.
func (g *changeGroup) message() string {
	if g.Requests == nil {
		return g.Message
	}
	return g.Message + ": " + g.Requests.Text()
}

// why returns the reason for which the change is accepted, or "".
func (g *changeGroup) why() string {
	switch a := g.Accepted; {
	case a == nil:
		return ""
	case a.Until == "":
		return a.Reason
	default:
		return fmt.Sprintf("%s (until %s)", a.Reason, a.Until)
	}
}

var levelColours = map[diff.Level]string{diff.Breaking: red, diff.Notable: yellow}

// printChanges writes changes for people, one change or group per line.
func printChanges(w io.Writer, changes []diff.AcceptedChange) {
	p := paletteOf(w)
	for _, g := range groupChanges(changes) {
		level := safe(levelOf(g.AcceptedChange) + ":")
		if colour := levelColours[levelOf(g.AcceptedChange)]; colour != "" {
			level = p.wrap(colour, string(level))
		}
		parts := []string{g.Service, strings.Join(g.versions, ", "), spell.Shorten(g.Endpoint) + g.andOthers()}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		where := strings.Join(parts, " ")
		printf(w, "%s ", level)
		if where != "" {
			printf(w, "%s ", p.bold(where+":"))
		}
		printf(w, "%s %s\n", g.message(), p.dim("["+g.Rule+"]"))
		if why := g.why(); why != "" {
			printf(w, "  %s %s\n", p.dim("= reason:"), why)
		}
	}
}

// markdownTitle is the heading of every comment.
const markdownTitle = "### Changes to the endpoints manifest\n\n"

// changesMarkdown returns a comment on a pull request. Remarks come first; a collapsed section at the end has the
// entries that would accept the failing changes. It is never empty, because an empty comment cannot be posted.
func changesMarkdown(changes []diff.AcceptedChange, remarks []string, entries string) string {
	var out strings.Builder
	out.WriteString(markdownTitle)
	for _, remark := range remarks {
		fmt.Fprintf(&out, "%s\n\n", markdownText(remark))
	}
	if len(changes) == 0 {
		out.WriteString("No changes.\n")
		return out.String()
	}
	hasServices := slices.ContainsFunc(changes, func(c diff.AcceptedChange) bool { return c.Service != "" })
	row := func(level, service string, cells ...string) {
		if hasServices {
			level += " | " + service
		}
		fmt.Fprintf(&out, "| %s | %s |\n", level, strings.Join(cells, " | "))
	}
	fmt.Fprintf(&out, "%s\n\n", summary(changes))
	row("level", "service", "version", "endpoint", "change", "rule")
	columns := 5
	if hasServices {
		columns++
	}
	out.WriteString(strings.Repeat("|---", columns) + "|\n")
	for _, g := range groupChanges(changes) {
		level := string(levelOf(g.AcceptedChange))
		if level == string(diff.Breaking) {
			level = "**" + level + "**"
		}
		message := markdownText(g.message())
		if why := g.why(); why != "" {
			message += "<br>Reason: " + markdownText(why)
		}
		row(level, markdownCode(g.Service), markdownText(strings.Join(g.versions, ", ")),
			markdownCode(spell.Shorten(g.Endpoint))+g.andOthers(), message, "`"+g.Rule+"`")
	}
	if entries != "" {
		out.WriteString("\n<details><summary>Accept what fails</summary>\n\n")
		out.WriteString("Add to the file of accepted changes, with the reason:\n\n")
		fmt.Fprintf(&out, "```yaml\n%s```\n\n</details>\n", strings.ReplaceAll(entries, "```", "'''"))
	}
	return out.String()
}

// failureMarkdown returns a comment about a failed comparison: NEW has errors, or something could not be read.
func failureMarkdown(failure error) string {
	invalid := (*invalidError)(nil)
	if !errors.As(failure, &invalid) {
		return markdownTitle + "The comparison failed: " + markdownText(failure.Error()) + "\n"
	}
	out := markdownTitle + markdownText(invalid.Error()) + ", so nothing was compared.\n\n"
	out += "| place | error | rule |\n|---|---|---|\n"
	for _, f := range invalid.findings {
		message := markdownText(f.Message)
		if f.Hint != "" {
			message += "<br>" + markdownText(f.Hint)
		}
		place := fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		out += fmt.Sprintf("| %s | %s | `%s` |\n", markdownCode(place), message, f.Rule)
	}
	return out
}

// markup matches characters with a meaning in Markdown.
var markup = regexp.MustCompile("[\\\\`*_\\[\\]<>|~&]")

// markdownText escapes markup and table delimiters. A zero-width space keeps @name and #1 from becoming a mention or a
// reference; GitHub offers no other way.
func markdownText(text string) string {
	text = markup.ReplaceAllString(printable(text), `\$0`)
	return strings.NewReplacer("@", "@&#8203;", "#", "#&#8203;").Replace(text)
}

// markdownCode returns text in a code span that is safe inside a table.
func markdownCode(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + strings.ReplaceAll(printable(text), "|", `\|`) + fence
}
