package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
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

// object is a JSON object of a sample.
type object map[string]any

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
	received, modifiers, values, err := s.receive(req)
	if err != nil {
		return nil, err
	}
	for _, item := range s.endpoint.ContextObj {
		if _, sent := values[item.SentAs()]; item.Required && sendable(s.endpoint, item) && !sent {
			return s.respond(req, http.StatusUnauthorized, "application/problem+json", object{
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
	return s.respond(req, http.StatusOK, cmp.Or(contentType, signpost.MIMEJSON), s.feed(req.URL, received, modifiers))
}

// receive reads a request as a feed service does. It returns what the sample says about it, the modifiers, and the context
// values by the name they were sent under.
func (s *sampleFeeds) receive(req *http.Request) (received object, modifiers map[string]string, values map[string]any, err error) {
	modifiers, values = make(map[string]string), make(map[string]any)
	for key, all := range req.URL.Query() {
		if key != "ctx" {
			modifiers[key] = all[0]
		}
	}
	if sent, err := contextkeys.Decode(req.URL.Query().Get("ctx")); err == nil {
		values = maps.Collect(sent.All())
	}
	received = object{"modifiers": modifiers, "context_keys": maps.Clone(values)}
	if req.Body == nil {
		return received, modifiers, values, nil
	}
	defer req.Body.Close()
	body, err := io.ReadAll(req.Body) // in memory
	if err != nil {
		return nil, nil, nil, err
	}
	received["body"] = string(body)
	if form, err := url.ParseQuery(string(body)); err == nil && s.endpoint.MIMEType == signpost.MIMEForm {
		for name := range form {
			values[name] = form.Get(name)
		}
	} else {
		json.Unmarshal(body, &values) // missing values are reported by the caller
	}
	return received, modifiers, values, nil
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
func (s *sampleFeeds) feed(u *url.URL, received object, modifiers map[string]string) object {
	w := s.wishes(modifiers)
	plain := *u
	plain.RawQuery = ""
	hash := fnv.New32a()
	io.WriteString(hash, u.Path)
	start := int(hash.Sum32()%7) + 12*w.shift
	var numbers []int
	for n := start; n < start+144 && len(numbers) < maxSampleEntries; n++ {
		found := strings.Contains(strings.ToLower(sampleTitle(n)), strings.ToLower(w.search))
		if found && (len(w.flags) == 0 || n%2 == 0) {
			numbers = append(numbers, n)
		}
	}
	if w.byTitle {
		slices.SortStableFunc(numbers, func(a, b int) int { return strings.Compare(sampleTitle(a), sampleTitle(b)) })
	}
	from := min(w.page*w.limit, len(numbers))
	to := min(from+w.limit, len(numbers))
	entries := []object{}
	for _, n := range numbers[from:to] {
		entries = append(entries, s.entry(u, n, w.flags))
	}
	feed := object{"id": plain.String(), "title": s.endpoint.Name, "type": object{"value": "feed"}, "entry": entries, "received": received}
	if w.paged != "" && to < len(numbers) {
		query := u.Query()
		query.Del("ctx") // links carry no context
		query.Set(w.paged, strconv.Itoa(w.page+1))
		plain.RawQuery = query.Encode()
		feed["next"] = plain.String()
	}
	return feed
}

// entry returns one entry. It has values for the placeholders of the other endpoints, and links to one of them.
func (s *sampleFeeds) entry(u *url.URL, n int, flags []string) object {
	title, minutes := sampleTitle(n), 20+n*7%70
	id := strings.ReplaceAll(strings.ToLower(title), " ", "-")
	picture := url.URL{Scheme: u.Scheme, Host: u.Host, Path: samplePicturePath + strconv.Itoa(n) + ".png"}
	extensions := object{"duration": minutes * 60, "free": n%3 == 0}
	if len(flags) > 0 {
		extensions["matches"] = flags
	}
	e := object{}
	var targets []string
	for _, other := range s.version.manifest.Endpoints {
		target, open := other.URL, signpost.CutURL(other.URL).Placeholders()
		for _, name := range open {
			value := strings.TrimSuffix(name, "_id") + "-" + strconv.Itoa(n+1)
			if name == "id" {
				value = id
			}
			e[name] = value
			target = strings.ReplaceAll(target, "{{"+name+"}}", url.PathEscape(value))
		}
		if other.URL != s.endpoint.URL && other.Method == signpost.MethodGet && len(open) > 0 {
			targets = append(targets, target)
		}
	}
	maps.Copy(e, object{ // these fields win over placeholders of the same name
		"id": id, "title": title, "type": object{"value": "video"}, "extensions": extensions,
		"summary":     fmt.Sprintf("A sample entry, generated by the studio: %s, %d minutes.", sampleGenres[n%len(sampleGenres)], minutes),
		"media_group": []object{{"type": "image", "media_item": []object{{"key": "image_base", "src": picture.String()}}}},
	})
	if delete(e, "link"); len(targets) > 0 {
		e["link"] = object{"rel": "related", "href": targets[n%len(targets)]}
	}
	return e
}

// Size of sample pictures: cheap to generate, large enough for a card.
const (
	sampleWidth  = 480
	sampleHeight = 270
)

// sampleColours are pairs of colours, for the top and the bottom of a picture.
var sampleColours = [][2]color.RGBA{
	{{0x6c, 0xa5, 0x9a, 255}, {0x2f, 0x66, 0x60, 255}}, {{0x8a, 0x64, 0xab, 255}, {0x43, 0x2a, 0x5e, 255}},
	{{0x43, 0x60, 0x9c, 255}, {0x14, 0x24, 0x4c, 255}}, {{0xc7, 0x6f, 0x86, 255}, {0x62, 0x26, 0x40, 255}},
	{{0xd9, 0xa4, 0x41, 255}, {0x6f, 0x4a, 0x12, 255}}, {{0x5c, 0x90, 0x4e, 255}, {0x24, 0x47, 0x23, 255}},
	{{0x41, 0x82, 0x9a, 255}, {0x14, 0x3a, 0x4b, 255}}, {{0xd2, 0x6a, 0x45, 255}, {0x6f, 0x29, 0x1b, 255}},
}

// samplePicture paints a gradient, whose colours depend on the number. With a palette it is one byte per dot, which takes a
// fraction of the time to encode.
func samplePicture(n int) []byte {
	pair := sampleColours[n%len(sampleColours)]
	const steps = 256
	mix := func(a, b uint8, step int) uint8 { return uint8(int(a) + (int(b)-int(a))*step/steps) }
	var colours color.Palette
	for i := range steps {
		colours = append(colours, color.RGBA{mix(pair[0].R, pair[1].R, i), mix(pair[0].G, pair[1].G, i), mix(pair[0].B, pair[1].B, i), 255})
	}
	img := image.NewPaletted(image.Rect(0, 0, sampleWidth, sampleHeight), colours)
	for i := range img.Pix {
		img.Pix[i] = uint8(i / sampleWidth * steps / sampleHeight)
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&out, img); err != nil { // writing to a Buffer cannot fail
		return nil
	}
	return out.Bytes()
}
