package wire

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"signpost/internal/testkit"
)

func TestProve(t *testing.T) {
	const request = "GET /v1 HTTP/1.1\r\nHost: a.example.com\r\n\r\n"
	requests := func() io.Reader { return strings.NewReader(request + request) }
	if err := Prove(http.HandlerFunc(sequenceHandler), requests); err != nil {
		t.Errorf("with this release of Go: %v", err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"a response that is not sent": func(w http.ResponseWriter, r *http.Request) {
			if c := Of(w, r); c != nil {
				c.Announce(response(r, http.StatusOK, "x", unobserved{}))
				w.Header().Set("X-New", "a field that a later net/http might add")
			}
		},
		"another header": func(w http.ResponseWriter, r *http.Request) {
			if c := Of(w, r); c != nil {
				c.Announce(&Response{Status: http.StatusOK, Header: []byte("Content-Length: 0\r\nX: y\r\n"), Observer: unobserved{}})
			}
		},
	} {
		if Prove(handler, requests) == nil {
			t.Errorf("%s went unnoticed", name)
		}
	}
}

// reply announces a response or, if that is not possible, lets net/http write it.
func reply(w http.ResponseWriter, r *http.Request, status int, body string, header ...string) {
	if c := Of(w, r); c != nil {
		res := &Response{Status: status, Header: []byte(strings.Join(header, "\r\n") + "\r\n"), Observer: unobserved{}}
		if r.Method != http.MethodHead {
			res.Body = []byte(body)
		}
		c.Announce(res)
		w.WriteHeader(status)
		return
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	io.WriteString(w, body) // net/http drops it in response to HEAD
}

type unobserved struct{}

func (unobserved) Written(int, error) {}

// sequenceTime is how long TestWireSequences runs unless SIGNPOST_SOAK_SEQUENCES says otherwise: some thousand sequences.
const sequenceTime = time.Second

// TestWireSequences sends random byte sequences, most of them almost valid requests, on connections of this package and on
// plain ones. The responses must be the same, and both connections must end at the same point.
func TestWireSequences(t *testing.T) {
	t.Parallel()
	length := sequenceTime
	if text := os.Getenv("SIGNPOST_SOAK_SEQUENCES"); text != "" {
		length = testkit.Must(time.ParseDuration(text))(t)
	}
	seed, end := rand.Uint64(), time.Now().Add(length)
	var n atomic.Int64
	var all sync.WaitGroup
	for i := range 16 { // so many, because net/http rests for half a second before it closes some connections
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for first := true; first || time.Now().Before(end) && !t.Failed(); first = false {
				n.Add(1)
				text := newSequence(random) + "GET /none HTTP/1.1\r\nHost: last.example.com\r\nConnection: close\r\n\r\n"
				cuts := random.Uint64()
				if err := Prove(http.HandlerFunc(sequenceHandler), func() io.Reader { return &pieces{text, rand.New(rand.NewPCG(cuts, 0))} }); err != nil {
					t.Errorf("%.2000q with cuts %d: %v", text, cuts, err)
				}
			}
		})
	}
	all.Wait()
	t.Logf("soak: %d sequences of seed %d", n.Load(), seed)
}

// pieces is a reader that returns a text in pieces of random size.
type pieces struct {
	text   string
	random *rand.Rand
}

func (p *pieces) Read(out []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(out, p.text[:1+p.random.IntN(len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// sequenceHandler responds like the manifest handler: with a small or a large body that contains the host, 304, or an
// error that may close the connection.
func sequenceHandler(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, "host "+r.Host+"\n"
	switch {
	case r.ContentLength > 20 || r.ContentLength < 0:
		w.Header().Set("Connection", "close")
		status = http.StatusRequestEntityTooLarge
	case !slices.Contains([]string{"a.example.com", "b.example.com", "last.example.com"}, strings.ToLower(r.Host)):
		status = http.StatusMisdirectedRequest
	case r.Method == http.MethodOptions:
		status = http.StatusNoContent
	case r.Header.Get("If-None-Match") != "":
		status = http.StatusNotModified
	case strings.HasPrefix(r.URL.Path, "/v2"):
		body = strings.Repeat(body, 2000)
	case !strings.HasPrefix(r.URL.Path, "/v1"):
		status = http.StatusNotFound
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		reply(w, r, status, "", "X-Host: "+r.Host)
		return
	}
	reply(w, r, status, body, "X-Host: "+r.Host, "Content-Type: text/plain", "Content-Length: "+strconv.Itoa(len(body)))
}

// newSequence returns a series of requests and lookalikes.
func newSequence(random *rand.Rand) string {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	seldom := func(n int, text string) string {
		if random.IntN(n) == 0 {
			return text
		}
		return ""
	}
	var out []byte
	for range random.IntN(6) {
		target := pick("/v1/endpoints-manifest", "/v1/endpoints-manifest", "/v2/endpoints-manifest", "/v2/endpoints-manifest?a=b", "/none", "*", "/%76%31/endpoints-manifest",
			"http://a.example.com/v1/endpoints-manifest", "http://u:p@a.example.com/v1/endpoints-manifest", "//a/v1", "/a b", "", "/\x00", "/%zz", "a.example.com:443")
		method := pick("GET", "GET", "GET", "GET", "HEAD", "HEAD", "OPTIONS", "POST", "DELETE", "CONNECT", "get", "PRI", "", "G\tT")
		end := pick("\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n")
		out = append(out, seldom(20, "\r\n")+method+" "+target+" "+pick("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTP/1.1", "")+end...)
		out = append(out, pick("Host: a.example.com", "Host: A.example.com:80", "Host: a.example.com", "Host: b.example.com", "Host: evil.example", "Host: a b", "Host:", "X: y", "Host : a")+end...)
		body := ""
		for range random.IntN(4) {
			line := pick("Accept-Encoding: gzip", "Accept-Encoding: gzip;q=0, identity", "If-None-Match: *", `If-None-Match: "x", W/"y"`, "Connection: close", "Connection: keep-alive",
				"Connection: Upgrade, HTTP2-Settings"+end+"Upgrade: h2c", "Expect: 100-continue", "Expect: 200-ok", "Host: second.example.com", "X-Forwarded-Host: evil.example",
				"Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Content-Length: 5", "Content-Length: 40", "Content-Length: 0", "Content-Length: -1", "Content-Length: 5, 5",
				"Content-Length: 99999999999999999999", "X: "+strings.Repeat("a", random.IntN(3000)), " folded", "no colon", "X\x00: y", "X: \x00", ": y", "Te: trailers", "Trailer: X")
			out = append(out, line+end...)
			switch line {
			case "Transfer-Encoding: chunked":
				body = pick("0\r\n\r\n", "2\r\n{}\r\n0\r\n\r\n", "2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n", "1e\r\n"+strings.Repeat("b", 30)+"\r\n0\r\n\r\n", "-1\r\n", "zz\r\n", "2\r\n{}", "2\r\n{}0\r\n\r\n")
			case "Content-Length: 5":
				body = "12345"
			case "Content-Length: 40":
				body = strings.Repeat("b", 40)
			}
		}
		if random.IntN(30) == 0 { // more than allowed, in one line or many
			out = append(out, pick("X: "+strings.Repeat("a", 30<<10)+end, strings.Repeat("X: y"+end, 6<<10), "X-"+strings.Repeat("a", 30<<10)+": y"+end)...)
		}
		out = append(out, end+body...)
	}
	for range max(0, random.IntN(10)-6) { // most sequences are left as they are
		if len(out) == 0 {
			break
		}
		i := random.IntN(len(out))
		switch random.IntN(4) {
		case 0:
			out[i] = byte(random.Uint32())
		case 1:
			out = slices.Delete(out, i, min(len(out), i+1+random.IntN(5)))
		case 2:
			out = slices.Insert(out, i, out[:min(i, 50)]...)
		case 3:
			out = out[:i]
		}
	}
	return string(out)
}
