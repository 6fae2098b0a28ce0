package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// logEndpoints is how many lists the service of the log has, each with an endpoint for its items.
const logEndpoints = 100

// feedName returns a name for the path of a feed: news-aa, films-ab and so on.
func feedName(i int) string {
	kinds := []string{"news", "films", "series", "matches", "podcasts"}
	return fmt.Sprintf("%s-%c%c", kinds[i%len(kinds)], 'a'+i/26%26, 'a'+i%26)
}

// logDefinition returns the definition of the service: a list and its items by number.
func logDefinition() []byte {
	var out bytes.Buffer
	out.WriteString(`enable: [geo-restriction]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Items per page}
  sort: {kind: select, id: sort, name: Sort order, key: sort, label: Sort by,
    options: [{value: newest, label: Newest}, {value: title, label: Title}]}
versions:
  v1:
    endpoints:
`)
	for i := range logEndpoints {
		name := feedName(i)
		fmt.Fprintf(&out, `      https://{{host}}/v1/%s:
        name: List %s
        method: get
        mime_type: application/json
        modifiers: [limit, sort]
      https://{{host}}/v1/%s/{{id}}: {name: Item of %s, method: get, mime_type: application/json}
`, name, name, name, name)
	}
	return out.Bytes()
}

// logLine returns a line of a log for a request.
type logLine func(random *rand.Rand, at time.Time, uri string, status int) string

const browser = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) " +
	"Chrome/130.0.0.0 Mobile Safari/537.36"

func clientAddress(random *rand.Rand) string {
	return fmt.Sprintf("203.0.%d.%d", random.IntN(256), random.IntN(256))
}

func combinedLine(random *rand.Rand, at time.Time, uri string, status int) string {
	return fmt.Sprintf("%s - - [%s] \"GET %s HTTP/1.1\" %d %d \"https://app.example.com/\" %q\n",
		clientAddress(random), at.Format("02/Jan/2006:15:04:05 -0700"), uri, status, random.IntN(99_999), browser)
}

func caddyLine(random *rand.Rand, at time.Time, uri string, status int) string {
	request := fmt.Sprintf(`{"remote_ip":"%s","remote_port":"%d","proto":"HTTP/2.0","method":"GET",`+
		`"host":"feeds.example.com","uri":%q,"headers":{"User-Agent":[%q],"Accept":["*/*"],`+
		`"Accept-Encoding":["gzip, deflate, br"]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,`+
		`"proto":"h2","server_name":"feeds.example.com"}}`,
		clientAddress(random), random.IntN(60_000), uri, browser)
	return fmt.Sprintf(`{"level":"info","ts":%d.%03d,"logger":"http.log.access.log0","msg":"handled request",`+
		`"request":%s,"user_id":"","duration":0.%04d,"size":%d,"status":%d,`+
		`"resp_headers":{"Server":["Caddy"],"Content-Type":["application/json"]}}`+"\n",
		at.Unix(), random.IntN(1000), request, random.IntN(9999), random.IntN(99_999), status)
}

// writeLog writes a log of a size: half of the requests are for a list with parameters, the rest for an item with a
// context key. Few have an error, a parameter that nobody declares, or no endpoint.
func writeLog(path string, size int64, line logLine) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	random := rand.New(rand.NewPCG(1, 39))
	for written := int64(0); written < size; {
		at := time.Date(2026, 11, 12, 0, 0, int(written*7*86400/size), 0, time.UTC)
		uri := fmt.Sprintf("/v1/%s/%08x-%08x", feedName(random.IntN(logEndpoints)), random.Uint32(), random.Uint32())
		if random.IntN(2) == 0 {
			uri = fmt.Sprintf("/v1/%s?limit=%d&sort=newest", feedName(random.IntN(logEndpoints)), random.IntN(50))
		} else {
			ctx := fmt.Sprintf(`{"signedDeviceInfoToken":"%016x%016x"}`, random.Uint64(), random.Uint64())
			uri += "?ctx=" + base64.RawURLEncoding.EncodeToString([]byte(ctx))
		}
		status := 200
		switch random.IntN(50) {
		case 0:
			status = 404
		case 1:
			uri += "&utm_source=app"
		case 2:
			uri = "/favicon.ico"
		}
		n, err := out.WriteString(line(random, at, uri, status))
		if err != nil {
			return err
		}
		written += int64(n)
	}
	return out.Flush()
}

// logRun is what a program needed to read a log.
type logRun struct {
	took, processor time.Duration
	memory          float64
}

// slowPart is how much smaller the log for goaccess is, so that the benchmark takes minutes and not an hour.
const slowPart = 10

// readLog runs a program. It returns the fastest of up to three runs within half a minute: other load only adds to it.
func readLog(args ...string) (best logRun, err error) {
	for start, runs := time.Now(), 0; runs < 3 && time.Since(start) < 30*time.Second; runs++ {
		cmd := exec.Command(args[0], args[1:]...)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return best, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		run := logRun{took: time.Since(began), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
		run.memory = peakMemory(cmd.ProcessState)
		if best.took == 0 || run.took < best.took {
			best = run
		}
	}
	return best, nil
}

// runUsage measures how fast logs are read.
func (b *bench) runUsage() ([]section, error) {
	definition, report := filepath.Join(b.dir, "feeds.yaml"), filepath.Join(b.dir, "report.json")
	log, part := filepath.Join(b.dir, "access.log"), filepath.Join(b.dir, "part.log")
	if err := os.WriteFile(definition, logDefinition(), 0o644); err != nil {
		return nil, err
	}
	size := int64(b.logSize) << 20
	if b.quick {
		size = 10 << 20
	}
	rows := [][]string{{"", "time", "MB/s", "MB per CPU second", "peak memory"}}
	for _, format := range []struct {
		name, goaccess string
		line           logLine
	}{{"combined", "COMBINED", combinedLine}, {"JSON lines", "CADDY", caddyLine}} {
		b.progress("usage: a log of %d MB, %s", size>>20, format.name)
		if err := writeLog(log, size, format.line); err != nil {
			return nil, err
		}
		if err := writeLog(part, size/slowPart, format.line); err != nil {
			return nil, err
		}
		usage := []string{b.signpost, "usage", definition, "--format", "json", "--log", log}
		goaccess := []string{"goaccess", part, "--log-format=" + format.goaccess, "--no-progress", "-o", report}
		for _, contender := range []struct {
			name string
			size int64
			args []string
		}{
			{"**Signpost**", size, usage},
			{"**Signpost**, one core", size, append([]string{"taskset", "-c", "0"}, usage...)},
			{"goaccess", size / slowPart, goaccess},
			{"wc -l", size, []string{"wc", "-l", log}},
		} {
			if _, err := exec.LookPath(contender.args[0]); err != nil {
				b.progress("%s is left out: on Debian, apt-get install %s", contender.name, contender.args[0])
				continue
			}
			b.progress("usage: %s, %s", format.name, contender.name)
			run, err := readLog(contender.args...)
			if err != nil {
				return nil, err
			}
			mb := float64(contender.size) / 1e6
			rows = append(rows, []string{
				format.name + ", " + contender.name, seconds(run.took.Seconds()), thousands(mb / run.took.Seconds()),
				thousands(mb / max(run.processor.Seconds(), 0.01)), megabytes(run.memory),
			})
		}
	}
	text := fmt.Sprintf("One log of %s MB for a service with %d endpoints, and one of a tenth of the size for "+
		"goaccess. The fastest of up to three runs each; %s:\n\n%s",
		thousands(float64(size>>20)), 2*logEndpoints, machine(), markdown(rows))
	return []section{{"usage", text}}, nil
}
