package match

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
)

// Alike groups hosts that the same versions declare and that no URL names: feeds get the same answers on all of them. It
// maps every host but the first of a group to the first. Where {{host}} is only a part of a URL's host, the whole hosts
// are in the result, too. Judging one host of each group keeps the work from being the product of hosts and endpoints
// (TestHostileInput, many hosts).
func Alike(versions ...signpost.Version) map[string]string {
	hasSeveral := func(v signpost.Version) bool { return len(v.Hosts) > 1 }
	if !slices.ContainsFunc(versions, hasSeveral) {
		return nil
	}
	there, forms := presences(versions)
	alike, seen, first := make(map[string]string), make(map[string]bool), make(map[string]string)
	for _, v := range versions {
		for _, name := range v.Hosts {
			if seen[name] {
				continue
			}
			seen[name] = true
			key := groupOf(name, forms, there)
			other, found := first[key]
			if !found {
				first[key] = name
				continue
			}
			for _, form := range forms {
				alike[fill(form, name)] = fill(form, other)
			}
		}
	}
	return alike
}

// presence is that of a version on a host, whose URLs have the host in a form: with {{host}}, or written out.
type presence struct {
	version int
	form    string
}

// presences returns what is on each host, and the forms with {{host}} in which URLs have it.
func presences(versions []signpost.Version) (there map[string][]presence, forms []string) {
	there = make(map[string][]presence)
	known := map[string]bool{signpost.HostPlaceholder: true}
	forms = []string{signpost.HostPlaceholder}
	for i, v := range versions {
		for u := range v.Manifest.All() {
			name := strings.ToLower(u.Hostname())
			switch {
			case known[name]:
			case u.HasHostPlaceholder():
				forms = append(forms, name)
			default:
				there[name] = append(there[name], presence{i, name})
			}
			known[name] = true
		}
	}
	for i, v := range versions {
		for _, name := range v.Hosts {
			for _, form := range forms {
				if whole := fill(form, name); whole != "" {
					there[whole] = append(there[whole], presence{i, form})
				}
			}
		}
	}
	return there, forms
}

// groupOf returns a text that is the same for hosts that are alike.
func groupOf(name string, forms []string, there map[string][]presence) string {
	var text strings.Builder
	for _, form := range forms {
		whole := fill(form, name)
		isUnique := whole == ""
		for _, p := range there[whole] {
			fmt.Fprintf(&text, "%d %q ", p.version, p.form)
			isUnique = isUnique || p.form != form
		}
		if isUnique {
			text.WriteString(name)
		}
		text.WriteByte(';')
	}
	return text.String()
}

// fill returns the host that a form with {{host}} stands for, or "" if there is none: the name may not fit into it.
func fill(form, name string) string {
	whole := strings.ReplaceAll(form, signpost.HostPlaceholder, name)
	if form == signpost.HostPlaceholder {
		return whole
	}
	if _, err := host.ParseName(whole); err != nil || host.IsIP(name) {
		return ""
	}
	return whole
}
