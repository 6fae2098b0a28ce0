package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/contextkeys"
)

const (
	// sampleEntries is the number of entries of a sample feed if no modifier says otherwise: a full page of cards.
	sampleEntries = 12

	// maxSampleEntries limits what a modifier may ask for.
	maxSampleEntries = 100

	// samplePicturePath is the apparent path of the pictures of sample feeds, on the host of the feed.
	samplePicturePath = "/sample-pictures/"
)

// sampleFeeds generates feeds for a definition. They depend on the modifiers, so that changing a control changes the
// feed, and they link to the other endpoints of the version.
type sampleFeeds struct {
	version  version
	endpoint signpost.Endpoint
}

type sampleFeed struct {
	ID    string        `json:"id"`
	Title string        `json:"title"`
	Type  sampleType    `json:"type"`
	Entry []sampleEntry `json:"entry"`
	Next  string        `json:"next,omitempty"`

	// Received is what the request contained, as a feed service reads it.
	Received sampleReceived `json:"received"`
}

type sampleType struct {
	Value string `json:"value"`
}

type sampleEntry struct {
	ID         string            `json:"id"`
	Title      string            `json:"title"`
	Summary    string            `json:"summary"`
	Type       sampleType        `json:"type"`
	MediaGroup []sampleGroup     `json:"media_group"`
	Link       *sampleLink       `json:"link,omitempty"`
	Extensions map[string]any    `json:"extensions"`
	Fields     map[string]string `json:"-"` // values for placeholders
}

type sampleGroup struct {
	Type string       `json:"type"`
	Item []sampleItem `json:"media_item"`
}

type sampleItem struct {
	Key string `json:"key"`
	Src string `json:"src"`
}

type sampleLink struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

type sampleReceived struct {
	Modifiers map[string]string `json:"modifiers"`
	Context   map[string]any    `json:"context_keys"`
	Body      string            `json:"body,omitempty"`
}

// MarshalJSON includes the fields that placeholders are bound to.
func (e sampleEntry) MarshalJSON() ([]byte, error) {
	type plain sampleEntry
	text, err := json.Marshal(plain(e))
	if err != nil || len(e.Fields) == 0 {
		return text, err
	}
	fields, err := json.Marshal(e.Fields)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:len(text)-1], []byte(","), fields[1:]), nil
}

// Words for sample titles.
var (
	sampleFirst  = []string{"The Lighthouse", "Northbound", "A Year on the", "Salt and", "Signal", "The Long Way", "Paper", "Under a Copper", "Winter", "The Glass", "Seven", "Low"}
	sampleSecond = []string{"Keeper", "Express", "Island", "Stone", "Fires", "Round", "Lanterns", "Sky", "Harbour", "Orchard", "Bridges", "Tide"}
	sampleGenres = []string{"drama", "documentary", "comedy", "nature"}
)

// sampleTitle returns the title of the n-th entry. There are 144 of them.
func sampleTitle(n int) string {
	first := sampleFirst[n%len(sampleFirst)]
	second := sampleSecond[(n+n/len(sampleFirst))%len(sampleSecond)]
	return first + " " + second
}

// RoundTrip returns a feed, or an error as a feed service would.
func (s *sampleFeeds) RoundTrip(req *http.Request) (*http.Response, error) {
	received, values, err := s.receive(req)
	if err != nil {
		return nil, err
	}
	for _, item := range s.endpoint.ContextObj {
		if _, sent := values[item.SentAs()]; item.Required && sendable(s.endpoint, item) && !sent {
			return s.respond(req, http.StatusUnauthorized, "application/problem+json", map[string]any{
				"title": http.StatusText(http.StatusUnauthorized), "status": http.StatusUnauthorized,
				"detail": fmt.Sprintf("The required context key %q is missing.", item.Key),
			})
		}
	}
	// The first accepted type is the one in the manifest.
	contentType, _, _ := strings.Cut(req.Header.Get("Accept"), ",")
	if contentType == signpost.MIMEForm { // describes the request, not the response
		contentType = ""
	}
	return s.respond(req, http.StatusOK, cmp.Or(contentType, signpost.MIMEJSON), s.feed(req.URL, received))
}

// receive reads a request as a feed service does. It returns the context values by the name they were sent under.
func (s *sampleFeeds) receive(req *http.Request) (sampleReceived, map[string]any, error) {
	received := sampleReceived{Modifiers: make(map[string]string), Context: make(map[string]any)}
	values := make(map[string]any)
	for key, all := range req.URL.Query() {
		if key != "ctx" {
			received.Modifiers[key] = all[0]
		}
	}
	if sent, err := contextkeys.Decode(req.URL.Query().Get("ctx")); err == nil {
		for name, value := range sent.All() {
			received.Context[name], values[name] = value, value
		}
	}
	if req.Body != nil {
		defer req.Body.Close()
		body, err := io.ReadAll(req.Body) // in memory
		if err != nil {
			return received, nil, err
		}
		received.Body = string(body)
		if form, err := url.ParseQuery(received.Body); err == nil && s.endpoint.MIMEType == signpost.MIMEForm {
			for name := range form {
				values[name] = form.Get(name)
			}
		} else {
			json.Unmarshal(body, &values) // missing values are reported below
		}
	}
	return received, values, nil
}

func (s *sampleFeeds) respond(req *http.Request, status int, contentType string, value any) (*http.Response, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {contentType}, "Cache-Control": {"no-store"}, "Content-Length": {strconv.Itoa(body.Len())}},
		Body:   io.NopCloser(&body), ContentLength: int64(body.Len()),
	}, nil
}

// wish holds what the modifiers of a request ask for.
type wish struct {
	limit, page int
	search      string
	byTitle     bool
	shift       int      // another choice of a dropdown gives another selection
	flags       []string // labels of the toggles that are on
	paged       string   // key of the modifier for paging
}

func (s *sampleFeeds) wishes(sent map[string]string) wish {
	w := wish{limit: sampleEntries}
	for _, m := range s.endpoint.Modifiers {
		for _, p := range m.Params {
			value, key := sent[p.Key], strings.ToLower(p.Key)
			if strings.Contains(key, "page") && !strings.Contains(key, "size") {
				w.paged = p.Key
			}
			if value == "" {
				continue
			}
			number, err := strconv.Atoi(value)
			switch {
			case p.Schema.Type == signpost.TypeNumber && err == nil && slices.ContainsFunc([]string{"limit", "size", "count", "per"}, func(word string) bool { return strings.Contains(key, word) }):
				w.limit = max(0, min(number, maxSampleEntries))
			case p.Schema.Type == signpost.TypeNumber && err == nil && p.Key == w.paged:
				w.page = max(0, min(number, 1000))
			case p.Schema.Type == signpost.TypeBoolean && value == "true":
				w.flags = append(w.flags, p.UI.Label)
			case len(p.UI.Options) > 0 || len(p.Schema.Enum) > 0:
				w.byTitle = w.byTitle || strings.Contains(strings.ToLower(value), "title") || strings.Contains(strings.ToLower(value), "name")
				w.shift += max(0, slices.IndexFunc(p.UI.Options, func(o signpost.Option) bool { return o.Value == value }))
			case p.Schema.Type == signpost.TypeString:
				w.search = value
			}
		}
	}
	return w
}

// feed returns the feed that a request asks for.
func (s *sampleFeeds) feed(u *url.URL, received sampleReceived) sampleFeed {
	w := s.wishes(received.Modifiers)
	plain := *u
	plain.RawQuery = ""
	feed := sampleFeed{ID: plain.String(), Title: s.endpoint.Name, Type: sampleType{"feed"}, Entry: []sampleEntry{}, Received: received}
	hash := fnv.New32a()
	io.WriteString(hash, u.Path)
	start := int(hash.Sum32()%7) + 12*w.shift
	var numbers []int
	for n := start; n < start+144 && len(numbers) < maxSampleEntries; n++ {
		title := sampleTitle(n)
		if w.search != "" && !strings.Contains(strings.ToLower(title), strings.ToLower(w.search)) || len(w.flags) > 0 && n%2 == 1 {
			continue
		}
		numbers = append(numbers, n)
	}
	if w.byTitle {
		slices.SortStableFunc(numbers, func(a, b int) int { return strings.Compare(sampleTitle(a), sampleTitle(b)) })
	}
	from := min(w.page*w.limit, len(numbers))
	to := min(from+w.limit, len(numbers))
	for _, n := range numbers[from:to] {
		feed.Entry = append(feed.Entry, s.entry(u, n, w.flags))
	}
	if w.paged != "" && to < len(numbers) {
		query := u.Query()
		query.Del("ctx") // links carry no context
		query.Set(w.paged, strconv.Itoa(w.page+1))
		next := *u
		next.RawQuery = query.Encode()
		feed.Next = next.String()
	}
	return feed
}

// entry returns one entry. It has values for the placeholders of the other endpoints, and links to one of them.
func (s *sampleFeeds) entry(u *url.URL, n int, flags []string) sampleEntry {
	title := sampleTitle(n)
	id := strings.ReplaceAll(strings.ToLower(title), " ", "-")
	picture := url.URL{Scheme: u.Scheme, Host: u.Host, Path: samplePicturePath + strconv.Itoa(n) + ".png"}
	e := sampleEntry{
		ID: id, Title: title, Type: sampleType{"video"},
		Summary:    fmt.Sprintf("A sample entry, generated by the studio: %s, %d minutes.", sampleGenres[n%len(sampleGenres)], 20+n*7%70),
		MediaGroup: []sampleGroup{{"image", []sampleItem{{"image_base", picture.String()}}}},
		Extensions: map[string]any{"duration": (20 + n*7%70) * 60, "free": n%3 == 0},
		Fields:     make(map[string]string),
	}
	if len(flags) > 0 {
		e.Extensions["matches"] = flags
	}
	for _, other := range s.version.manifest.Endpoints {
		for _, name := range signpost.CutURL(other.URL).Placeholders() {
			if !slices.Contains([]string{"id", "title", "summary", "type", "link"}, name) {
				e.Fields[name] = strings.TrimSuffix(name, "_id") + "-" + strconv.Itoa(n+1)
			}
		}
	}
	var targets []string
	for _, other := range s.version.manifest.Endpoints {
		if other.URL == s.endpoint.URL || other.Method != signpost.MethodGet || len(signpost.CutURL(other.URL).Placeholders()) == 0 {
			continue
		}
		target := other.URL
		for _, name := range signpost.CutURL(other.URL).Placeholders() {
			target = strings.ReplaceAll(target, "{{"+name+"}}", url.PathEscape(cmp.Or(e.Fields[name], id)))
		}
		targets = append(targets, target)
	}
	if len(targets) > 0 {
		e.Link = &sampleLink{"related", targets[n%len(targets)]}
	}
	return e
}
