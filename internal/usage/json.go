package usage

import (
	"bytes"
	"encoding/json"
	"net/url"
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

// read takes the fields of an object, and returns its end or -1.
func (f *jsonFields) read(object []byte, depth int) (end int) {
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
		known := fields[string(short)]
		isObject := value[0] == '{'
		switch {
		case isObject && objects[string(short)]:
			if depth < maxDepth {
				f.read(value, depth+1)
			}
			return
		case isObject && known.role == isQuery:
			value = queryOf(value)
		case isObject, value[0] == '[':
			return
		}
		if known.rank > f.ranks[known.role] {
			f.values[known.role], f.ranks[known.role] = value, known.rank
		}
	})
}

// queryOf returns the query that a server has logged as an object.
func queryOf(object []byte) []byte {
	query := make(url.Values)
	members(object, func(name, value []byte) { query.Set(string(unquote(name)), string(unquote(value))) })
	return []byte(query.Encode())
}

func (f *jsonFields) text(role int) []byte { return unquote(f.values[role]) }

// parseJSON reads a line that is a JSON object.
func parseJSON(line []byte) (r request, reason string) {
	var f jsonFields
	if f.read(line, 0) < 0 {
		return r, unknownFormat
	}
	r.host, r.query, r.time = f.text(isHost), f.text(isQuery), f.text(isTime)
	r.status, _ = number(f.text(isStatus))
	if !r.setLine(f.text(isRequestLine)) && !r.set(f.text(isMethod), f.text(isTarget)) {
		return r, noRequest
	}
	return r, ""
}

// unquote returns a JSON value as text, which is empty if it is badly escaped.
func unquote(value []byte) []byte {
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

// members visits the members of the JSON object that a text begins with, names and values as written. It returns the
// end of the object, or -1 if it has none. The text need not be valid between quotes and brackets. encoding/json would
// take five times as long for a log.
func members(text []byte, visit func(name, value []byte)) (end int) {
	var name []byte
	depth, begin := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			end := endOfString(text, at)
			if end < 0 {
				return -1
			}
			at = end - 1
		case '{', '[':
			depth++
			if depth == 1 {
				begin = at + 1
			}
		case ':':
			if depth == 1 {
				name = bytes.TrimSpace(text[begin:at])
				begin = at + 1
			}
		case ',', '}', ']':
			if depth == 1 {
				value := bytes.TrimSpace(text[begin:at])
				if len(name) > 0 && name[0] == '"' && len(value) > 0 {
					visit(name, value)
				}
				name, begin = nil, at+1
			}
			if text[at] != ',' {
				depth--
			}
			if depth == 0 {
				return at + 1
			}
		}
	}
	return -1
}

// member returns the value of the last member of an object with a name, as written, or nil if there is none.
func member(object []byte, name string) (value []byte) {
	members(object, func(other, v []byte) {
		if string(unquote(other)) == name {
			value = v
		}
	})
	return value
}

// endOfString returns the position after the string that begins with the quote at i, or -1.
func endOfString(text []byte, i int) int {
	for at := i + 1; ; {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			return -1
		}
		at += end + 1
		escapes := 0
		for text[at-2-escapes] == '\\' { // up to the opening quote
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}
