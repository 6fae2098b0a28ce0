package wire

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
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

// sequenceTime is how long TestWireSequences runs unless SIGNPOST_SOAK_SEQUENCES says otherwise: some thousand sequences.
const sequenceTime = time.Second

// TestWireSequences sends random byte sequences, most of them almost valid requests, on connections of this package and on
// others. The responses must be the same, and both connections must end at the same point.
func TestWireSequences(t *testing.T) {
	t.Parallel()
	length := sequenceTime
	if text := os.Getenv("SIGNPOST_SOAK_SEQUENCES"); text != "" {
		length = testkit.Must(time.ParseDuration(text))(t)
	}
	seed, end := rand.Uint64(), time.Now().Add(length)
	var n, sent atomic.Int64
	var all sync.WaitGroup
	for i := range 16 { // so many, because net/http rests for half a second before it closes some connections
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for first := true; first || time.Now().Before(end) && !t.Failed(); first = false {
				n.Add(1)
				text := newSequence(random) + "GET /none HTTP/1.1\r\nHost: last.example.com\r\nConnection: close\r\n\r\n"
				cuts := random.Uint64()
				ours := respond(text, cuts, func(l net.Listener, srv *http.Server) net.Listener {
					answering := NewListener(l, 0)
					srv.ConnState = answering.ConnState
					srv.Handler = &sending{Handler: srv.Handler, sent: &sent}
					answering.Answer(srv)
					return answering
				})
				plain := respond(text, cuts, func(l net.Listener, _ *http.Server) net.Listener { return l })
				if ours != plain {
					t.Errorf("the responses are %.5000q, and those of net/http %.5000q, for %.5000q with cuts %d", ours, plain, text, cuts)
				}
			}
		})
	}
	all.Wait()
	t.Logf("soak: %d sequences of seed %d, %d requests answered without net/http", n.Load(), seed, sent.Load())
	if sent.Load() < n.Load()/5 {
		t.Error("too few requests were plain")
	}
}

// respond returns the responses to requests, without Date and with the lines of each in a fixed order.
func respond(requests string, cuts uint64, wrap func(net.Listener, *http.Server) net.Listener) string {
	unused, _ := net.Pipe() // for the methods that are not replaced
	ended, cancel := context.WithCancel(context.Background())
	conn := &recorder{Conn: unused, in: requests, random: rand.New(rand.NewPCG(cuts, 0)), close: cancel}
	accept := make(pipeListener, 1)
	accept <- conn
	srv := &http.Server{Handler: http.HandlerFunc(sequenceHandler), MaxHeaderBytes: 16 << 10}
	go srv.Serve(wrap(accept, srv))
	defer srv.Close()
	<-ended.Done() // at the latest when it has read everything
	// Of a request that is malformed and too long, net/http counts the first 4 kB only if it is the first one that it gets.
	out := strings.ReplaceAll(conn.out.String(), "431 Request Header Fields Too Large", "400 Bad Request")
	var all []string
	for response := range strings.SplitSeq(out, "HTTP/1.") {
		lines := strings.Split(response, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return strings.Join(all, "\n")
}

// recorder is a connection whose client has already sent everything. It is read request by request, or in pieces of
// random size.
type recorder struct {
	net.Conn
	in     string
	random *rand.Rand
	out    bytes.Buffer
	close  context.CancelFunc
}

func (r *recorder) Read(p []byte) (int, error) {
	if r.in == "" {
		return 0, io.EOF
	}
	n := 1 + r.random.IntN(len(r.in))
	if end := strings.Index(r.in, "\r\n\r\n"); end >= 0 && r.random.IntN(4) > 0 {
		n = end + len("\r\n\r\n")
	}
	n = copy(p, r.in[:n])
	r.in = r.in[n:]
	return n, nil
}

func (r *recorder) Write(p []byte) (int, error)      { return r.out.Write(p) }
func (r *recorder) Close() error                     { r.close(); return nil }
func (r *recorder) SetDeadline(time.Time) error      { return nil }
func (r *recorder) SetReadDeadline(time.Time) error  { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

// pipeListener accepts the connections in a channel until it is closed.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Close() error   { close(l); return nil }
func (l pipeListener) Addr() net.Addr { return &net.IPAddr{} }

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
	w.Header().Set("X-Host", r.Host)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	io.WriteString(w, body) // net/http drops it in response to HEAD
}

// newSequence returns a series of requests and lookalikes, about half of which are plain requests.
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
		if random.IntN(2) == 0 {
			out = append(out, pick("GET", "HEAD")+" "+pick("/v1/endpoints-manifest", "/v2/endpoints-manifest?a=b", "/none", "//a/v1")+" HTTP/1.1\r\nHost: "+
				pick("a.example.com", "A.example.com:80", "b.example.com", "evil.example")+"\r\n"+
				seldom(2, "Accept-Encoding: gzip\r\n")+seldom(4, "If-None-Match: *\r\n")+seldom(4, "Connection: keep-alive\r\n")+
				seldom(8, "X: a\xe9\r\n")+seldom(8, "Content-Length: 0\r\n")+"\r\n"...)
			continue
		}
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
		// Up to which size net/http accepts a header depends on what it has read ahead: none is changed to almost that size.
		if len(out) == 0 || len(out) > 16<<10 {
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
