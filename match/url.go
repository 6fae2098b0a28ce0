package match

import (
	"strconv"
	"strings"

	"signpost"
)

// authorityEnd terminates the authority in canonical URLs, so that an endpoint is never a prefix of a feed on another
// host that merely starts with the same characters.
const authorityEnd = "\x00"

// canonical returns a URL as it is compared: scheme and authority lower-cased, the rest unchanged.
func canonical(raw string) string {
	u := signpost.CutURL(raw)
	origin := u.Origin()
	if origin == "" {
		return "://" + authorityEnd + raw
	}
	return origin + authorityEnd + raw[len(u.Scheme())+len("://")+len(u.Authority()):]
}

// cutPlaceholder splits a URL around its first placeholder. {{host}} is treated as literal text.
func cutPlaceholder(url string) (text, after string, found bool) {
	from := 0
	for {
		i := strings.Index(url[from:], "{{")
		if i < 0 {
			return url, "", false
		}
		i += from
		if from = i + len(signpost.HostPlaceholder); strings.HasPrefix(url[i:], signpost.HostPlaceholder) {
			continue
		}
		_, after, found := strings.Cut(url[i+len("{{"):], "}}")
		if !found {
			return url, "", false
		}
		return url[:i], after, true
	}
}

func quotedList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return strings.Join(quoted, ", ")
}

// valid reports whether a URL can be that of an endpoint.
func valid(url string) bool {
	_, err := signpost.ParseURL(url)
	return err == nil
}
