package server

import (
	"strconv"
	"strings"
)

// matchesTag reports whether the If-None-Match lines name an ETag, given without quotes. That of another encoding is a
// different one.
func matchesTag(lines []string, want string) bool {
	for _, line := range lines {
		for {
			line = strings.TrimLeft(line, " \t,")
			if rest, any := strings.CutPrefix(line, "*"); any {
				rest = strings.TrimLeft(rest, " \t")
				return rest == "" || rest[0] == ','
			}
			tag, ok := strings.CutPrefix(strings.TrimPrefix(line, "W/"), `"`)
			if !ok {
				break
			}
			tag, line, ok = strings.Cut(tag, `"`)
			if !ok {
				break
			}
			if tag == want {
				return true
			}
		}
	}
	return false
}

// acceptsGzip reports whether the Accept-Encoding lines allow gzip and do not prefer the plain form.
func acceptsGzip(lines []string) bool {
	const unsaid = -1.0
	gzip, identity, other := unsaid, unsaid, unsaid
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(item, ";")
			switch coding = strings.Trim(coding, " \t"); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				gzip = max(gzip, quality(params))
			case strings.EqualFold(coding, "identity"):
				identity = quality(params)
			case coding == "*":
				other = quality(params)
			}
		}
	}
	if gzip == unsaid {
		gzip = other
	}
	return gzip > 0 && gzip >= identity
}

// quality returns the q parameter: 1 if absent, 0 if it is not a number from 0 to 1.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		if q, err := strconv.ParseFloat(value, 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
		return 0
	}
	return 1
}
