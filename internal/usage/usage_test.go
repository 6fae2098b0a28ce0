package usage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"signpost"
	"signpost/internal/testkit"
)

const token, profile = "plugin-login-flow.access_token", "user_account.profile"

// services are two services that are registered together.
func services() []signpost.Service {
	sort := signpost.Select(signpost.ModifierInput{
		ID: "sort", Name: "Sort", Key: "sort", Label: "Sort",
		Options: []signpost.Option{{Value: "newest", Label: "Newest"}, {Value: "by title", Label: "Title"}},
	})
	limit := signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Limit", Key: "limit", Label: "Limit"})
	films := testkit.Endpoints("/v1/films, /v1/films/{{id}}/media " + token + "! " + profile + "=profile")
	films[0].Modifiers = []signpost.Modifier{sort, limit}
	sport := testkit.Endpoints("=https://sport.example.net/v1/matches, /v1/scores, post form /v1/votes body.vote!")
	return []signpost.Service{
		{BasePath: "/", Versions: []signpost.Version{{Name: "v1", Manifest: signpost.NewManifest(films...)}}},
		{BasePath: "/sport", Versions: []signpost.Version{{Name: "v1", Manifest: signpost.NewManifest(sport...)}}},
	}
}

// ctx returns a ctx parameter.
func ctx(values string) string { return base64.RawURLEncoding.EncodeToString([]byte(values)) }

// count counts logs, and returns the usage file.
func count(t testing.TB, logs ...string) string {
	t.Helper()
	c := NewCounter(services(), nil)
	for i, log := range logs {
		testkit.OK(t, c.Count(t.Context(), fmt.Sprint("log", i), strings.NewReader(log)))
	}
	return file(t, c.Usage())
}

func file(t testing.TB, u *Usage) string {
	t.Helper()
	return string(testkit.Must(json.MarshalIndent(u, "", "  "))(t)) + "\n"
}

// TestParse shows how each line is read.
func TestParse(t *testing.T) {
	testkit.Cases(t, "testdata/lines.golden", func(line string) string {
		line = strings.NewReplacer(`\t`, "\t", `\e`, "\x1b", `\0`, "\x00").Replace(line)
		r, reason := parse([]byte(line))
		if reason != "" {
			return fmt.Sprintf("%s: %s\n", reason, values.ReplaceAllString(line, "…"))
		}
		out := fmt.Sprintf("%s %q", r.method, r.path)
		for _, part := range []struct {
			name string
			text []byte
		}{{"query", r.query}, {"host", r.host}} {
			if len(part.text) > 0 {
				out += fmt.Sprintf(", %s %q", part.name, part.text)
			}
		}
		day, ok := dayOf(r.time)
		if !ok {
			day = "no day"
		}
		return fmt.Sprintf("%s, %d, %s\n", out, r.status, day)
	})
}

// combined returns a line of the combined format.
func combined(uri string, status int) string {
	return fmt.Sprintf("203.0.113.7 - - [18/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" %d 512 \"-\" \"App/1.0\"\n", uri, status)
}

// TestCount shows what is counted.
func TestCount(t *testing.T) {
	t.Parallel()
	media := "/v1/films/7/media"
	log := combined("/v1/films?sort=newest&limit=20&utm_source=x&utm_source=y", 200) +
		combined("/v1/films?sort=by+title", 200) + combined("/v1/films?sort=by%20title&sort=newest", 500) +
		combined("/v1/films?sort=oldest&bare&"+strings.Repeat("n", 33)+"=1&a%5Bb%5D=1&others=1", 404) +
		combined(media, 401) + combined(media+"?ctx=", 401) + combined(media+"?ctx=undefined", 401) + combined(media+"?ctx=null", 401) + combined(media+"?ctx=!", 401) +
		combined(media+"?ctx="+ctx(`{"`+token+`":"s3cr3t","profile":7}`), 200) +
		combined(media+"?ctx="+ctx(`{"`+token+`":"undefined","profile":null}`), 401) +
		combined(media+"?ctx="+ctx(`{"`+token+`":["a"],"profile":"\u00e9"}`)+"%3D", 200) +
		combined(media+"?ctx="+ctx("undefined"), 401) + combined(media+"?ctx="+ctx("null"), 401) + combined(media+"?=x&ctx=&ctx="+ctx(`{"`+token+`":"x"}`), 401) +
		combined(media+"?ctx="+ctx(`{"`+strings.Replace(token, "-", `\u002d`, 1)+`":"x","profile":"n\u0075ll"}`), 200) +
		combined("/v1/serials/7/media?x=1", 404) + combined("/"+strings.Repeat("v1/", 20), 404) + combined("/v1/endpoints-manifest", 200) +
		strings.Replace(combined("/v1/films", 204), "GET", "OPTIONS", 1) + strings.Replace(combined("*", 200), "GET", "OPTIONS", 1) +
		"\n" + strings.Replace(combined("/v1/votes", 200), "GET", "POST", 1) +
		`{"request":{"method":"GET","host":"sport.example.net","uri":"/v1/matches/7?x=1"},"status":200,"ts":1763374800.5}` + "\n" +
		`{"request":{"method":"GET","host":"other.example.net:443","uri":"/v1/films"},"status":200,"ts":1763374800.5}` + "\n" +
		"what is this?\n"
	testkit.Golden(t, "testdata/count.golden", count(t, log))
}

// TestDocuments mixes logs, HAR and usage files in one log, compressed and not.
func TestDocuments(t *testing.T) {
	t.Parallel()
	har := testkit.Read(t, "testdata/films.har")
	one, two := count(t, combined("/v1/films?x=1", 200)), count(t, combined("/v1/scores", 500), "what?")
	mixed := combined("/v1/films", 200) + har + one + `{"method":"GET","path":"/v1/films","response_code":200}` + "\n" + two + combined("/v1/films", 200)
	var zipped bytes.Buffer
	for _, part := range []string{byteOrderMark + mixed[:1000], mixed[1000:]} { // as Windows, logrotate or cat leave them
		z := gzip.NewWriter(&zipped)
		io.WriteString(z, part)
		testkit.OK(t, z.Close())
	}
	want := count(t, mixed)
	testkit.Golden(t, "testdata/documents.golden", want)
	testkit.Equal(t, "compressed", count(t, zipped.String()), want)
	slowly := NewCounter(services(), nil)
	testkit.OK(t, slowly.Count(t.Context(), "pipe", iotest.OneByteReader(strings.NewReader(mixed))))
	testkit.Equal(t, "from a slow pipe", file(t, slowly.Usage()), want)
	testkit.Equal(t, "on single lines", count(t, strings.Join(strings.Fields(har), " ")+"\n"+strings.NewReplacer("\n", "", "  ", "").Replace(one)), count(t, har, one))

	long, longer := strings.Repeat("z", 2*blockSize)+"\n", strings.Repeat("z", 2*maxDocument)+"\n"
	c := NewCounter(services(), nil)
	testkit.OK(t, c.Count(t.Context(), "log", strings.NewReader(long+one+longer+combined("/v1/films", 200)+"what?")))
	u := c.Usage()
	testkit.Equal(t, "requests beside long lines", u.Requests, uint(2))
	testkit.Equal(t, "long lines", u.Unread[tooLong], uint(2))
	testkit.Equal(t, "the number of a line behind them", u.First[unknownFormat].Number, 3+strings.Count(one, "\n")+1)

	for name, broken := range map[string]string{
		"a HAR that ends":            har[:len(har)/2],
		"entries that are none":      `{"log":{"entries":7}}`,
		"a negative count":           strings.Replace(one, `"requests": 1`, `"requests": -1`, 1),
		"a later format":             strings.Replace(one, `"signpost_usage": 1`, `"signpost_usage": 2`, 1),
		"a usage file of other type": `{"signpost_usage":1,"requests":"7"}`,
	} {
		c := NewCounter(services(), nil)
		testkit.OK(t, c.Count(t.Context(), name, strings.NewReader(broken+"\n"+combined("/v1/films", 200))))
		if u := c.Usage(); u.Unread[badDocument] != 1 {
			t.Errorf("%s: %v", name, u.Unread)
		}
	}
	if u := count(t, strings.Replace(one, "/v1/films", "/v1/gone", 1)); !strings.Contains(u, `"`+unknownEndpoint+`": 1`) {
		t.Errorf("an endpoint that is not registered: %s", u)
	}
	forged := strings.Replace(count(t, combined("/v1/films?sort=newest", 200)), `"newest": 1`, `"newest": 2`, 1)
	if u := count(t, forged); !strings.Contains(u, `"set": 2`) {
		t.Errorf("an option that was set more often than its parameter: %s", u)
	}
	testkit.Equal(t, "damaged gzip", fmt.Sprint(NewCounter(nil, nil).Count(t.Context(), "x.gz", strings.NewReader(zipped.String()[:200]))), `read log "x.gz": unexpected EOF`)
}

// TestPeriod names the days of logs, with their years where they would be mistaken otherwise.
func TestPeriod(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"2026-11-18", "2026-11-18", "18 Nov"},
		{"2026-11-12", "2026-11-18", "12–18 Nov"},
		{"2026-12-28", "2027-01-03", "28 Dec – 3 Jan"},
		{"2025-11-19", "2026-11-19", "19 Nov 2025 – 19 Nov 2026"},
		{"", "", ""},
	} {
		testkit.Equal(t, test.from+" to "+test.to, (&Usage{From: test.from, To: test.to}).Period(), test.want)
	}
}

// TestAddsUp counts random logs in one place, and in several places whose usage files are added up in another order.
func TestAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 39))
		pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
		var parts [3]strings.Builder
		for range 400 {
			uri := pick("/v1/films", "/v1/films/7/media", "/v1/scores/1", "/v1/", "/v1/media/films", fmt.Sprint("/", strings.Repeat("films/", random.IntN(30))), "")
			uri += pick("", "?sort=newest", "?sort=x&limit=1", "?ctx="+ctx(`{"profile":"`+pick("7", "null", "")+`"}`), fmt.Sprintf("?p%d=1&q%d", random.IntN(500), random.IntN(9)))
			line := pick(combined(uri, 200+random.IntN(300)), strings.Replace(combined(uri, 200), "18/Nov", pick("17/Nov", "31/Dec", "40/Foo"), 1),
				`{"method":"GET","host":"`+pick("a.example", "sport.example.net")+`","uri":"`+uri+`","status":`+pick("200", "404")+"}\n")
			parts[random.IntN(len(parts))].WriteString(line)
		}
		all := parts[0].String() + parts[1].String() + parts[2].String()
		whole := count(t, all)
		testkit.Equal(t, fmt.Sprint("sum of ", seed), count(t, count(t, parts[2].String(), parts[0].String())+count(t, parts[1].String())), whole)
		testkit.Equal(t, fmt.Sprint("file of ", seed), count(t, whole), whole)
	}
}

// TestSplit looks at a long line only when there is twice as much of it: a pipe gives little at a time.
func TestSplit(t *testing.T) {
	s := new(splitter)
	line := bytes.Repeat([]byte("x"), 2*blockSize)
	line[len(line)-1] = '\n'
	for _, have := range []struct{ data, block int }{{blockSize - 1, 0}, {blockSize, 0}, {2*blockSize - 1, 0}, {2 * blockSize, 2 * blockSize}} {
		size, _, _ := s.split(line[:have.data], false)
		testkit.Equal(t, fmt.Sprint("the block of ", have.data), size, have.block)
	}
	line[blockSize+1] = '\n'
	s.split(line[:blockSize], false)
	size, _, _ := s.split(line[:blockSize+2], false)
	testkit.Equal(t, "the block of a line that has just ended", size, 0)
}

// endless repeats a text until a number of bytes is read.
type endless struct {
	text []byte
	left int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && e.left > 0 {
		m := copy(p[n:min(len(p), n+e.left)], e.text[e.at:])
		n, e.left, e.at = n+m, e.left-m, (e.at+m)%len(e.text)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestHostileLogs reads logs that are made to cost memory, and lines that look like others.
func TestHostileLogs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 39))
	madeUp := func(size int, parameter func() string) string {
		var text strings.Builder
		for text.Len() < size {
			text.WriteString(combined("/v1/films?"+parameter()+"&"+parameter()+"&"+parameter(), 200))
		}
		return text.String()
	}
	descending := 99_999_999
	binary := make([]byte, 1<<20)
	for i := range binary {
		binary[i] = byte(random.IntN(256))
	}
	for name, text := range map[string]string{
		"one line":               "x",
		"one line of JSON":       `{"request":`,
		"an endless text in HAR": `{"log":{"comment":"` + strings.Repeat("x", 1<<20),
		"brackets":               "{\"log\":{\"entries\":[" + strings.Repeat("[", 1<<20),
		"lines of 2 MB":          strings.Repeat("y", 2<<20) + "\n",
		"binary":                 string(binary),
		"line breaks":            "\n\r\n",
		"quotes":                 `] "` + strings.Repeat(`\"`, 50_000) + "\n",
		"made-up parameters":     madeUp(4<<20, func() string { return fmt.Sprintf("p%d=1", random.Int64()) }),
		"shrinking parameters":   madeUp(4<<20, func() string { descending--; return fmt.Sprintf("p%d=1", descending) }),
		"made-up paths":          madeUp(4<<20, func() string { return "" }) + strings.ReplaceAll(madeUp(2<<20, func() string { return "" }), "films?&&", strings.Repeat("v1/films/", 300)),
		"usage files":            strings.Repeat("x", 900) + "\n" + `{"signpost_usage":1,"endpoints":[{"undeclared":{"a":1}}]}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := NewCounter(services(), nil)
			testkit.OK(t, c.Count(t.Context(), "log", &endless{text: []byte(text), left: 8 << 20}))
			out := file(t, c.Usage())
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > 24<<20 {
				t.Errorf("%d MB are kept", kept>>20)
			}
			runtime.KeepAlive(c)
			if len(out) > 50_000 {
				t.Errorf("the usage file has %d bytes", len(out))
			}
		})
	}
}

// A host in front of a line is that of the request, with its port or without.
func TestHostInFront(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		"192.0.2.1 - - ":                            "",
		"feeds.example.com:443 192.0.2.1 - ada ":    "feeds.example.com",
		"feeds.example.com 192.0.2.1 - - ":          "feeds.example.com",
		"feeds.example.com 2001:db8::1 - - ":        "feeds.example.com",
		"192.0.2.1 - ada lovelace ":                 "",
		"198.51.100.7 192.0.2.1 - - ":               "", // rather another client
		"client.example.net - ada ":                 "",
		"feeds.example.com client.example.net - - ": "", // one of the two
	} {
		r, reason := parse([]byte(fields + `[18/Nov/2026:10:00:00 +0000] "GET /v1/films HTTP/1.1" 200 7`))
		testkit.Equal(t, fields, string(r.host)+reason, want)
	}
}
