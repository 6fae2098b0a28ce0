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
	type presence struct {
		version int
		form    string // of the host in the URL
	}
	there := make(map[string][]presence) // by host
	known := map[string]bool{signpost.HostPlaceholder: true}
	forms := []string{signpost.HostPlaceholder} // with {{host}}
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
	alike, seen, first := make(map[string]string), make(map[string]bool), make(map[string]string)
	for _, v := range versions {
		for _, name := range v.Hosts {
			if seen[name] {
				continue
			}
			seen[name] = true
			var text strings.Builder // what is there
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
			other, found := first[text.String()]
			if !found {
				first[text.String()] = name
				continue
			}
			for _, form := range forms {
				alike[fill(form, name)] = fill(form, other)
			}
		}
	}
	return alike
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
