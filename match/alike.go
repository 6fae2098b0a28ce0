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
	forms, shared := formsOf(versions)
	on := make(map[string][]byte) // the versions on each host, as text
	for i, v := range versions {
		for _, name := range v.Hosts {
			on[name] = fmt.Appendf(on[name], "%d ", i)
		}
	}
	alike, first := make(map[string]string), make(map[string]string)
	for _, v := range versions {
		for _, name := range v.Hosts {
			isShared := func(form string) bool { return shared[fill(form, name)] }
			other, found := first[string(on[name])]
			switch {
			case other == name || slices.ContainsFunc(forms, isShared):
			case !found:
				first[string(on[name])] = name
			default:
				for _, form := range forms {
					alike[fill(form, name)] = fill(form, other)
				}
			}
		}
	}
	return alike
}

// formsOf returns the forms with {{host}} in which URLs have the hosts of versions, and the hosts that they have in
// several forms, written out or not.
func formsOf(versions []signpost.Version) (forms []string, shared map[string]bool) {
	forms = []string{signpost.HostPlaceholder}
	known := map[string]bool{signpost.HostPlaceholder: true}
	formOf := make(map[string]string)  // by host, the first one
	shared = map[string]bool{"": true} // which does not fit into a form
	add := func(name, form string) {
		if other, found := formOf[name]; found && other != form {
			shared[name] = true
		}
		formOf[name] = form
	}
	for _, v := range versions {
		for u := range v.Manifest.All() {
			form := strings.ToLower(u.Hostname())
			if u.HasHostPlaceholder() && !known[form] {
				known[form] = true
				forms = append(forms, form)
			} else if !u.HasHostPlaceholder() {
				add(form, form)
			}
		}
	}
	for _, v := range versions {
		for _, name := range v.Hosts {
			for _, form := range forms {
				add(fill(form, name), form)
			}
		}
	}
	return forms, shared
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
