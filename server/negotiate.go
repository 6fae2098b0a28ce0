package server

import (
	"strconv"
	"strings"
)

// gzipTagSuffix distinguishes the ETag of a compressed manifest from that of a plain one.
const gzipTagSuffix = "-gzip"

// matchesTag reports whether the If-None-Match lines contain the manifest with this hash, in any encoding.
func matchesTag(lines []string, hash string) bool {
	for _, line := range lines {
		for {
			line = strings.TrimLeft(line, " \t,")
			if strings.HasPrefix(line, "*") {
				return true
			}
			tag, ok := strings.CutPrefix(strings.TrimPrefix(line, "W/"), `"`)
			if !ok {
				break
			}
			if tag, line, ok = strings.Cut(tag, `"`); !ok {
				break
			}
			if strings.TrimSuffix(tag, gzipTagSuffix) == hash {
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
		for more := true; more; {
			var item string
			item, line, more = strings.Cut(line, ",")
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
	for more := true; more; {
		var param string
		param, params, more = strings.Cut(params, ";")
		name, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		if q, ok := shortQuality(value); ok {
			return q
		}
		if q, err := strconv.ParseFloat(value, 64); err == nil && q <= 1 {
			return max(q, 0)
		}
		return 0
	}
	return 1
}

// shortQuality reads a weight as RFC 9110 writes it, such as 0.8: a digit, and up to three after a point.
func shortQuality(value string) (q float64, ok bool) {
	if len(value) == 0 || len(value) > len("0.000") || len(value) > 1 && value[1] != '.' {
		return 0, false
	}
	n, scale := 0, 1
	for i := range len(value) {
		switch c := value[i]; {
		case i == 1:
			continue
		case c < '0' || c > '9':
			return 0, false
		case i > 1:
			scale *= 10
		}
		n = 10*n + int(value[i]-'0')
	}
	return float64(n) / float64(scale), n <= scale
}
