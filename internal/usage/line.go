package usage

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"
)

// Reasons why a line is not counted.
const (
	tooLong         = "longer than 128 KiB"
	unknownFormat   = "unknown format"
	noRequest       = "no request"
	severalServices = "no host, and several services fit"
	noOwnHost       = "no host, and the manifest does not tell which is its own"
	badDocument     = "HAR or usage file with errors, or larger than 16 MiB"
	unknownEndpoint = "endpoint of a usage file that is not registered"
)

var reasons = []string{tooLong, unknownFormat, noRequest, severalServices, noOwnHost, badDocument, unknownEndpoint}

// request is a request as a log has it. Its texts are parts of the line.
type request struct {
	method, host, path, query, time []byte
	status                          int
}

// parse reads a line of any format. The reason is empty if it could.
func parse(line []byte) (r request, reason string) {
	if line[0] == '{' {
		return parseJSON(line)
	}
	return parseCombined(line)
}

// parseCombined reads the common and the combined log format: client - user [time] "request" status, with anything
// before or after. Servers escape quotes in what clients send, so no user name can forge the end of the time.
func parseCombined(line []byte) (r request, reason string) {
	end := bytes.Index(line, []byte(`] "`))
	if end < 0 {
		return r, unknownFormat
	}
	begin := bytes.LastIndexByte(line[:end], '[')
	last := endOfString(line, end+2)
	if begin < 0 || last < 0 || len(line) < last+4 || line[last] != ' ' {
		return r, unknownFormat
	}
	status, ok := number(line[last+1 : last+4])
	if !ok {
		return r, unknownFormat
	}
	r.status = status
	r.time = line[begin+1 : end]
	r.host = hostInFront(line[:begin])
	if !r.setLine(line[end+3 : last-1]) {
		return r, noRequest
	}
	return r, ""
}

// hostInFront returns the host with which a line begins, as Apache's vhost_combined does, or nil. It has one field more
// than others. The host has a port; or it is a name, and the client's address follows.
func hostInFront(fields []byte) []byte {
	first, rest, _ := bytes.Cut(fields, space)
	if bytes.Count(rest, space) <= 2 {
		return nil
	}
	name, port, _ := bytes.Cut(first, []byte(":"))
	if _, isPort := number(port); isPort {
		return name
	}
	client, _, _ := bytes.Cut(rest, space)
	if isAddress(client) && !isAddress(first) {
		return first
	}
	return nil
}

func isAddress(text []byte) bool {
	_, err := netip.ParseAddr(string(text))
	return err == nil
}

var space, slash = []byte(" "), []byte("/")

// setLine takes method and target from a line such as GET /feeds HTTP/1.1.
func (r *request) setLine(line []byte) bool {
	method, target, _ := bytes.Cut(line, space)
	i := bytes.LastIndexByte(target, ' ')
	if i >= 0 && bytes.HasPrefix(target[i:], []byte(" HTTP/")) {
		target = target[:i]
	}
	return r.set(method, target)
}

// set sets the method and the target, which is a path with its query, or a URL. It reports whether they are a request.
func (r *request) set(method, target []byte) bool {
	r.method = method
	if len(bytes.Trim(r.host, "-_*")) == 0 { // what servers write that have no name
		r.host = nil
	}
	if !bytes.HasPrefix(target, slash) {
		scheme, rest, found := bytes.Cut(target, []byte("://"))
		if !found || !isWord(scheme) {
			return false
		}
		end := bytes.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		r.host, target = rest[:end], rest[end:]
	}
	target, _, _ = bytes.Cut(target, []byte("#"))
	path, query, found := bytes.Cut(target, []byte("?"))
	if !found { // some logs have it apart
		query = bytes.TrimPrefix(r.query, []byte("?"))
	}
	r.path, r.query = path, query
	return isWord(method)
}

// isWord reports whether text has letters and nothing else.
func isWord(text []byte) bool {
	for _, c := range text {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return len(text) > 0
}

// number reads a decimal number without a sign.
func number(text []byte) (n int, ok bool) {
	unsigned, err := strconv.ParseUint(string(text), 10, 63)
	return int(unsigned), err == nil
}

// dayOf returns the day of a time in the forms that logs have: 18/Nov/2026:10:00:00 +0000, RFC 3339, or the number of
// seconds, milliseconds, microseconds or nanoseconds since 1970. With a time zone, it is the day there.
func dayOf(text []byte) (day string, ok bool) {
	var t time.Time
	var err error
	whole, _, _ := bytes.Cut(text, []byte("."))
	if n, isNumber := number(whole); isNumber {
		for n > 1e11 { // seconds until the year 5138
			n /= 1000
		}
		t = time.Unix(int64(n), 0).UTC()
	} else if common, _, found := bytes.Cut(text, []byte(":")); found && bytes.Contains(common, slash) {
		t, err = time.Parse("02/Jan/2006", string(common))
	} else {
		t, err = time.Parse(time.DateOnly, string(text[:min(len(time.DateOnly), len(text))]))
	}
	return t.Format(time.DateOnly), err == nil && t.Year() >= 1990
}
