package wire

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// sequenceTime is how long TestWireSequences runs unless SIGNPOST_SOAK_SEQUENCES says otherwise: some thousand sequences.
const sequenceTime = time.Second

// TestWireSequences sends random byte sequences, most of them almost valid requests, to a server on connections of
// package wire and to one on plain connections. The responses must be the same, and both connections must end at the
// same point.
func TestWireSequences(t *testing.T) {
	t.Parallel()
	length := sequenceTime
	if text := os.Getenv("SIGNPOST_SOAK_SEQUENCES"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	wired, plain := startSequenceServers(t)
	seed := rand.Uint64()
	end := time.Now().Add(length)
	var n [4]int
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for ; time.Now().Before(end) && !t.Failed(); n[i]++ {
				compareSequence(t, wired, plain, newSequence(random), random.Uint64())
			}
		})
	}
	all.Wait()
	t.Logf("%d sequences of seed %d", n[0]+n[1]+n[2]+n[3], seed)
}

// FuzzWireSequences is TestWireSequences with sequences from the fuzzer.
func FuzzWireSequences(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(newSequence(random), random.Uint64())
	}
	wired, plain := startSequenceServers(f)
	f.Fuzz(func(t *testing.T, text []byte, cuts uint64) { compareSequence(t, wired, plain, text, cuts) })
}

// sequenceHosts are the hosts in sequences.
var sequenceHosts = [...]string{"a.example.com", "b.example.com", "last.example.com"}

// startSequenceServers starts both servers, with the same handler and limits like those of the daemon.
func startSequenceServers(t testing.TB) (wired, plain string) {
	start := func(l net.Listener) string {
		srv := &http.Server{Handler: http.HandlerFunc(sequenceHandler), MaxHeaderBytes: 16 << 10, ReadTimeout: patience, ConnContext: Context}
		go srv.Serve(l)
		t.Cleanup(func() { srv.Close() })
		return l.Addr().String()
	}
	return start(NewListener(listen(t), 0)), start(listen(t))
}

// sequenceHandler responds like the manifest handler: with a small or a large body that contains the host, 304, or an
// error that may close the connection.
func sequenceHandler(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, "host "+r.Host+"\n"
	switch {
	case r.ContentLength > 20 || r.ContentLength < 0:
		w.Header().Set("Connection", "close")
		status = http.StatusRequestEntityTooLarge
	case !slices.Contains(sequenceHosts[:], strings.ToLower(r.Host)):
		status = http.StatusMisdirectedRequest
	case r.Method == http.MethodOptions:
		status, body = http.StatusNoContent, ""
	case r.Header.Get("If-None-Match") != "":
		status, body = http.StatusNotModified, ""
	case strings.HasPrefix(r.URL.Path, "/v2"):
		body = strings.Repeat(body, 2000)
	case !strings.HasPrefix(r.URL.Path, "/v1"):
		status = http.StatusNotFound
	}
	header := map[string]string{"X-Host": r.Host}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		header["Content-Length"], header["Content-Type"] = fmt.Sprint(len(body)), "text/plain"
	}
	if r.Method == http.MethodHead {
		body = ""
	}
	if c := Of(w, r); c != nil {
		res := &Response{Status: status, Body: []byte(body), Head: r.Method == http.MethodHead, Observer: unobserved{}}
		for name, value := range header {
			res.Header = append(res.Header, name+": "+value+"\r\n"...)
		}
		c.Announce(res)
		w.WriteHeader(status)
		return
	}
	for name, value := range header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// compareSequence sends a sequence to both servers, followed by a request that shows whether the connection is still
// usable.
func compareSequence(t *testing.T, wired, plain string, text []byte, cuts uint64) {
	t.Helper()
	text = append(slices.Clip(text), "GET /none HTTP/1.1\r\nHost: last.example.com\r\nConnection: close\r\n\r\n"...)
	got, gotErr := sendSequence(wired, text, cuts)
	want, wantErr := sendSequence(plain, text, cuts)
	if gotErr != nil || wantErr != nil {
		t.Errorf("%.2000q with cuts %d: %v on wire, %v on net/http", text, cuts, gotErr, wantErr)
	}
	if got, want := normalise(got), normalise(want); got != want {
		t.Errorf("%.2000q with cuts %d: wire responds\n%.4000s\nand net/http responds\n%.4000s", text, cuts, got, want)
	}
}

// sendSequence sends text in pieces and returns all responses until the server closes. The bits of cuts say where the
// text is split and where the client pauses. A reset counts as a close: which one happens depends on whether the server
// has read everything.
func sendSequence(address string, text []byte, cuts uint64) ([]byte, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	go func() {
		random := rand.New(rand.NewPCG(cuts, 0))
		for cuts%2 == 0 && len(text) > 1 && random.IntN(4) > 0 {
			n := 1 + random.IntN(len(text)-1)
			conn.Write(text[:n])
			text = text[n:]
			if random.IntN(2) == 0 {
				time.Sleep(time.Duration(random.IntN(int(time.Millisecond))))
			}
		}
		conn.Write(text) // an error shows up when reading
		conn.(*net.TCPConn).CloseWrite()
	}()
	var out bytes.Buffer
	if _, err := io.Copy(&out, conn); err != nil && os.IsTimeout(err) {
		return nil, fmt.Errorf("the response has not ended after %v and %d bytes", patience, out.Len())
	}
	return out.Bytes(), nil
}

// normalise sorts the lines of each head and removes the time of day. It does not tell 431 from 400: net/http responds
// with either to a malformed request, depending on how much of it has arrived.
func normalise(responses []byte) string {
	const start = "HTTP/1."
	text, out := strings.ReplaceAll(string(responses), "431 Request Header Fields Too Large", "400 Bad Request"), new(strings.Builder)
	for text != "" {
		head, rest, whole := strings.Cut(text, "\r\n\r\n")
		if !strings.HasPrefix(text, start) || !whole { // a body, up to the next head
			i := strings.Index(text[1:], start) + 1
			if i == 0 {
				i = len(text)
			}
			out.WriteString(text[:i])
			text = text[i:]
			continue
		}
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		slices.Sort(lines[1:])
		fmt.Fprintf(out, "%s\n\n", strings.Join(lines, "\n"))
		text = rest
	}
	return out.String()
}

// newSequence returns a series of requests and lookalikes.
func newSequence(random *rand.Rand) []byte {
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
	return out
}
