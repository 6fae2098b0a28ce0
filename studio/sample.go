package studio

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/contextkeys"
)

const (
	// sampleEntries is the number of entries of a sample feed if no modifier says otherwise: a full page of cards.
	sampleEntries = 12

	maxSampleEntries = 100 // that a modifier may ask for
	sampleTitles     = 144 // different ones

	// samplePicturePath is the apparent path of the pictures of sample feeds, on the host of the feed. The page paints
	// them.
	samplePicturePath = "/sample-pictures/"
)

// sampleFeeds generates feeds for a definition. They depend on the modifiers, so that changing a control changes the
// feed, and they link to the other endpoints of the version.
type sampleFeeds struct {
	manifest signpost.Manifest
	endpoint signpost.Endpoint
}

type object map[string]any

// Words for sample titles.
var (
	sampleFirst = []string{"The Lighthouse", "Northbound", "A Year on the", "Salt and", "Signal", "The Long Way",
		"Paper", "Under a Copper", "Winter", "The Glass", "Seven", "Low"}
	sampleSecond = []string{"Keeper", "Express", "Island", "Stone", "Fires", "Round",
		"Lanterns", "Sky", "Harbour", "Orchard", "Bridges", "Tide"}
)

func sampleTitle(n int) string {
	first := sampleFirst[n%len(sampleFirst)]
	second := sampleSecond[(n+n/len(sampleFirst))%len(sampleSecond)]
	return first + " " + second
}

// handler answers as a feed service does: without a required context key, it rejects a request.
func (s sampleFeeds) handler() http.Handler {
	isUnsent := func(item signpost.ContextItem) bool { return !item.SentWith(s.endpoint.Method) }
	items := slices.DeleteFunc(slices.Clone(s.endpoint.ContextObj), isUnsent)
	return contextkeys.Middleware(items)(s)
}

// ServeHTTP responds with a feed, which says what arrived.
func (s sampleFeeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	modifiers := make(map[string]string)
	for key, all := range r.URL.Query() {
		if key != "ctx" {
			modifiers[key] = all[0]
		}
	}
	received := object{"modifiers": modifiers, "context_keys": maps.Collect(contextkeys.FromContext(r.Context()).All())}
	if body, _ := io.ReadAll(r.Body); len(body) > 0 { // in memory
		received["body"] = string(body)
	}
	// The first accepted type is the one in the manifest. That of a form describes the request.
	contentType, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	if contentType == "" || contentType == signpost.MIMEForm {
		contentType = signpost.MIMEJSON
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	feed, err := s.feed(r.URL, received, modifiers)
	if err != nil {
		refuse(w, failed(http.StatusBadRequest, sentence(err.Error()), ""))
		return
	}
	enc.Encode(feed)
}

// sizeKeys are the names of params that say how many entries there are on a page.
var sizeKeys = regexp.MustCompile("(?i)limit|size|count|per_?page")

// feed returns the feed that a request asks for. Whatever an editor sets changes the selection of entries.
func (s sampleFeeds) feed(u *url.URL, received object, modifiers map[string]string) (object, error) {
	chosen := fnv.New32a()
	io.WriteString(chosen, u.Path)
	limit, page, search := sampleEntries, 0, ""
	for _, m := range s.endpoint.Modifiers {
		for _, p := range m.Params {
			value := modifiers[p.Key]
			number, err := strconv.Atoi(value)
			switch {
			case err == nil && sizeKeys.MatchString(p.Key) && number < 0:
				return nil, fmt.Errorf("%s is %d, and a feed cannot have fewer than 0 entries", p.Key, number)
			case err == nil && sizeKeys.MatchString(p.Key):
				limit = min(number, maxSampleEntries)
			case err == nil && strings.Contains(strings.ToLower(p.Key), "page"):
				page = max(0, min(number, sampleTitles))
			case p.Kind() == signpost.KindText:
				search = strings.ToLower(value)
			default:
				io.WriteString(chosen, value)
			}
		}
	}
	entries := []object{}
	start := int(chosen.Sum32()%sampleTitles) + page*limit
	for n := start; n < start+sampleTitles && len(entries) < limit; n++ {
		if strings.Contains(strings.ToLower(sampleTitle(n)), search) {
			entries = append(entries, s.entry(u, n))
		}
	}
	plain := *u
	plain.RawQuery = ""
	return object{
		"id": plain.String(), "title": s.endpoint.Name, "type": object{"value": "feed"}, "entry": entries,
		"received": received,
	}, nil
}

// entry returns one entry. It has values for the placeholders of the other endpoints, and links to one of them.
func (s sampleFeeds) entry(u *url.URL, n int) object {
	title := sampleTitle(n)
	id := strings.ReplaceAll(strings.ToLower(title), " ", "-")
	picture := url.URL{Scheme: u.Scheme, Host: u.Host, Path: samplePicturePath + strconv.Itoa(n) + ".png"}
	e := object{}
	var targets []string
	for otherURL, other := range s.manifest.All() {
		target, names := other.URL, otherURL.Placeholders()
		for _, name := range names {
			value := strings.TrimSuffix(name, "_id") + "-" + strconv.Itoa(n+1)
			if name == "id" {
				value = id
			}
			e[name] = value
			target = strings.ReplaceAll(target, "{{"+name+"}}", url.PathEscape(value))
		}
		if other.URL != s.endpoint.URL && other.Method == signpost.MethodGet && len(names) > 0 {
			targets = append(targets, target)
		}
	}
	maps.Copy(e, object{ // these fields win over placeholders of the same name
		"id": id, "title": title, "type": object{"value": "video"},
		"extensions":  object{"duration": (20 + n*7%70) * 60, "free": n%3 == 0},
		"media_group": []object{{"type": "image", "media_item": []object{{"key": "image_base", "src": picture.String()}}}},
	})
	delete(e, "link")
	if len(targets) > 0 {
		e["link"] = object{"rel": "related", "href": targets[n%len(targets)]}
	}
	return e
}
