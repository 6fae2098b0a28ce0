package usage

import (
	"bytes"
	"encoding/json"
	"strings"
)

// What a field of a JSON line says about a request.
const (
	isMethod = iota
	isTarget
	isHost
	isQuery
	isStatus
	isTime
	isRequestLine // such as GET /feeds HTTP/1.1
	roles
)

// fieldNames has the usual names of fields: of Caddy, Envoy, Traefik, Cloudflare, Google, Azure and Elastic, and of the
// variables of nginx and Apache, in lower case and without separators. Of several fields, the first in this order
// counts: for example nginx's request_uri, which has the query, before its uri.
var fieldNames = [roles]string{
	isMethod: "method requestmethod httpmethod httprequestmethod clientrequestmethod csmethod",
	isTarget: "requesturi originalrequesturiwithargs clientrequesturi requesturl requestpath urloriginal original " +
		"uri url target path urlpath csuristem",
	isHost: "authority httphost requesthost clientrequesthost xhostheader cshost host domainname urldomain domain " +
		"servername",
	isQuery: "querystring args query urlquery csuriquery requestquery",
	isStatus: "status statuscode responsecode httpstatus httpstatuscode httpresponsestatuscode responsestatus " +
		"downstreamstatus edgeresponsestatus elbstatuscode scstatus",
	isTime: "starteddatetime startutc starttime time ts timestamp timelocal timeiso8601 datetime date msec " +
		"edgestarttimestamp",

	isRequestLine: "request requestline",
}

// field is what a name means. Of two fields with the same role, the one with the higher rank counts.
type field struct{ role, rank int }

var fields = func() map[string]field {
	all := make(map[string]field)
	for role, list := range fieldNames {
		for i, name := range strings.Fields(list) {
			all[name] = field{role, len(list) - i}
		}
	}
	return all
}()

// objects are the fields whose own fields count, and maxDepth is how deep: Elastic has http.request.method. What
// clients choose is in none of them: headers are not looked into.
var objects = map[string]bool{
	"request": true, "httprequest": true, "http": true, "url": true, "response": true, "req": true, "res": true,
	"properties": true, "jsonpayload": true,
}

const maxDepth = 3

// jsonFields holds the values of a JSON line by role, as written.
type jsonFields struct {
	values [roles][]byte
	ranks  [roles]int
}

func (f *jsonFields) read(object []byte, depth int) bool {
	return members(object, func(name, value []byte) {
		var buffer [32]byte
		short := buffer[:0]
		for _, c := range name[:min(len(name), len(buffer))] {
			switch {
			case 'A' <= c && c <= 'Z':
				short = append(short, c|0x20)
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
				short = append(short, c)
			}
		}
		if value[0] == '{' {
			if depth < maxDepth && objects[string(short)] {
				f.read(value, depth+1)
			}
		} else if known := fields[string(short)]; value[0] != '[' && known.rank > f.ranks[known.role] {
			f.values[known.role], f.ranks[known.role] = value, known.rank
		}
	})
}

// text returns a value without its quotes and escapes.
func (f *jsonFields) text(role int) []byte {
	value := f.values[role]
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []byte(text)
}

// parseJSON reads a line that is a JSON object.
func parseJSON(line []byte) (r request, reason string) {
	var f jsonFields
	if !f.read(line, 0) {
		return r, unknownFormat
	}
	r.host, r.query, r.time = f.text(isHost), f.text(isQuery), f.text(isTime)
	r.status, _ = number(f.text(isStatus))
	if r.parseRequestLine(f.text(isRequestLine)) == "" {
		return r, ""
	}
	r.method, r.target = f.text(isMethod), f.text(isTarget)
	return r, r.check()
}

// members visits the members of a JSON object with their values as written. It reports whether the text begins with an
// object. Values that nobody looks at may be anything with balanced brackets.
func members(object []byte, visit func(name, value []byte)) bool {
	s := scanner{text: object}
	if !s.skip('{') {
		return false
	}
	if s.skip('}') {
		return true
	}
	for {
		name := s.value()
		if len(name) == 0 || name[0] != '"' || !s.skip(':') {
			return false
		}
		value := s.value()
		if len(value) == 0 {
			return false
		}
		visit(name[1:len(name)-1], value)
		if s.skip('}') {
			return true
		}
		if !s.skip(',') {
			return false
		}
	}
}

// scanner reads JSON from a position on.
type scanner struct {
	text []byte
	at   int
}

// skip goes past a character and the spaces before it, if it is the next one. Otherwise, it only skips the spaces. Control
// characters count as spaces.
func (s *scanner) skip(c byte) bool {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		s.at++
	}
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// value returns the next value as written, or nothing if there is none.
func (s *scanner) value() []byte {
	s.skip(0)
	begin := s.at
	s.at = max(begin, endOfValue(s.text, begin))
	return s.text[begin:s.at]
}

// endOfString returns the position after the string that begins with the quote at i, or -1.
func endOfString(text []byte, i int) int {
	for at := i + 1; ; {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			return -1
		}
		at += quote + 1
		escapes := 0
		for text[at-2-escapes] == '\\' { // up to the opening quote
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// endOfValue returns the position after the value that begins at i, or -1.
func endOfValue(text []byte, i int) int {
	depth := 0
	for at := i; at < len(text); at++ {
		switch text[at] {
		case '"':
			end := endOfString(text, at)
			if end < 0 || depth == 0 {
				return end
			}
			at = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return at + 1
			} else if depth < 0 { // the end of the object that the value is in
				return at
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return at
			}
		}
	}
	return -1
}
