package usage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"signpost"
	"signpost/diff"
	"signpost/internal/testkit"
)

// sample returns a log of about a size, with the paths, parameters and keys that apps send.
func sample(size int, line func(uri string, status int) string) []byte {
	random := rand.New(rand.NewPCG(1, 39))
	var log bytes.Buffer
	for log.Len() < size {
		uri := fmt.Sprintf("/v1/films?sort=newest&limit=%d", random.IntN(50))
		switch random.IntN(4) {
		case 0:
			uri = fmt.Sprintf("/v1/films/%d/media?ctx=%s", random.IntN(1_000_000), ctx(fmt.Sprintf(`{"%s":"%x","profile":"%d"}`, token, random.Uint64(), random.IntN(9))))
		case 1:
			uri = fmt.Sprintf("/v1/scores/%d?utm_source=app", random.IntN(1000))
		}
		log.WriteString(line(uri, 200))
	}
	return log.Bytes()
}

// BenchmarkCount counts on one core.
func BenchmarkCount(b *testing.B) {
	browser := func(uri string, status int) string {
		return fmt.Sprintf("203.0.113.7 - - [18/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" %d 512 \"https://app.example.com/\" "+
			"\"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\"\n", uri, status)
	}
	caddy := func(uri string, status int) string {
		return fmt.Sprintf(`{"level":"info","ts":1763374800.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"203.0.113.7","remote_port":"4711","proto":"HTTP/2.0","method":"GET",`+
			`"host":"feeds.example.com","uri":%q,"headers":{"User-Agent":["Mozilla/5.0 (X11; Linux x86_64)"],"Accept":["*/*"]}},"bytes_read":0,"duration":0.001,"size":512,"status":%d,"resp_headers":{"Content-Type":["application/json"]}}`+"\n", uri, status)
	}
	for name, line := range map[string]func(string, int) string{"combined": browser, "json": caddy} {
		log := sample(16<<20, line)
		b.Run(name, func(b *testing.B) {
			w := NewCounter(services(), nil).workers[0]
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				w.block(log, Line{})
			}
		})
	}
}

// BenchmarkJoin counts for a change of each of 2,000 endpoints.
func BenchmarkJoin(b *testing.B) {
	var endpoints []signpost.Endpoint
	var changes []diff.Change
	for i := range 2000 {
		e := testkit.FullEndpoint(fmt.Sprintf("https://{{host}}/v1/films/%d", i))
		endpoints = append(endpoints, e)
		changes = append(changes, diff.Change{Rule: diff.ChangeMethod, Endpoint: e.URL})
	}
	c := NewCounter([]signpost.Service{{Versions: []signpost.Version{{Manifest: signpost.NewManifest(endpoints...)}}}}, nil)
	c.workers[0].line([]byte(combined("/v1/films/7", 200)), Line{})
	u := c.Usage()
	for b.Loop() {
		u.Join(changes)
	}
}
