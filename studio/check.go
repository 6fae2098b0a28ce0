package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"signpost"
	"signpost/client"
	"signpost/definition"
	"signpost/internal/httpurl"
	"signpost/internal/routes"
	"signpost/server"
)

// maxCheckRequest limits a request for a check: a schema of 1 MiB, in which every character may be escaped, and values.
const maxCheckRequest = 4 << 20

// maxCheckFollow limits how many links a check follows. The page offers no more.
const maxCheckFollow = 1000

// checkWriteTimeout limits each line of a check that is written to the page.
const checkWriteTimeout = 10 * time.Second

// overTheNetwork lists the checks that do not apply to a file, because nothing is sent for them.
var overTheNetwork = []string{"https", "reachable", "certificate", "redirect"}

// checkValues holds the values filled in for an endpoint.
type checkValues struct {
	Params  map[string]string       `json:"params"`
	Context map[string]contextValue `json:"context"`
}

// given returns the values that a check sends. Text that should be JSON but is not is left out: the page reports it
// beside the field, and no request is sent with it.
func (v checkValues) given() client.Values {
	values := client.Values{Params: v.Params, Context: make(map[string]string), ContextJSON: make(map[string]json.RawMessage)}
	for key, value := range v.Context {
		switch {
		case !value.JSON:
			values.Context[key] = value.Text
		case json.Valid([]byte(value.Text)):
			values.ContextJSON[key] = json.RawMessage(value.Text)
		}
	}
	return values
}

// checkRequest asks for a check.
type checkRequest struct {
	Source    string                 `json:"source"`
	Version   string                 `json:"version"`
	Send      string                 `json:"send"`
	To        string                 `json:"to"`
	Endpoints map[string]checkValues `json:"endpoints"` // what was filled in, by URL
	Follow    *int                   `json:"follow"`    // nil means the default
	Schema    *struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"schema"` // a JSON Schema to validate feeds against
}

// checkLine is a line of the response to a check: a result, the progress, or the end.
type checkLine struct {
	Result *client.Result `json:"result,omitempty"`
	Done   int            `json:"done,omitempty"`
	Total  int            `json:"total,omitempty"`
	End    bool           `json:"end,omitempty"`
	OK     bool           `json:"ok,omitempty"`
}

// serveCheck runs the checks of signpost check, and writes each result as a line of JSON as soon as it is available.
func (s *Studio) serveCheck(w http.ResponseWriter, r *http.Request) {
	var in checkRequest
	why := read(w, r, &in, maxCheckRequest)
	var address string
	var isFile bool
	var opts client.CheckOptions
	if why == nil {
		address, isFile, opts, why = s.checkOptions(r, in)
	}
	if why != nil {
		refuse(w, why)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	write := func(line checkLine) {
		text, err := json.Marshal(line)
		if err != nil {
			return
		}
		control.SetWriteDeadline(time.Now().Add(checkWriteTimeout))
		w.Write(append(text, '\n'))
		control.Flush()
	}
	opts.Progress = func(done, total int) { write(checkLine{Done: done, Total: total}) }
	opts.Observe = func(result client.Result) {
		if isFile && slices.Contains(overTheNetwork, result.Check) {
			result = client.Result{Check: result.Check, Status: client.Skipped, Message: "the file is not deployed yet: check its address when it is"}
		}
		write(checkLine{Result: &result})
	}
	report, err := client.Check(r.Context(), address, opts)
	if err != nil {
		write(checkLine{Result: &client.Result{Check: "reachable", Status: client.Failed, Message: err.Error()}})
	}
	write(checkLine{End: true, OK: report.OK})
}

// checkOptions returns the address to check, whether it is that of a file, and how. A registered address is checked in
// place; the manifest of a file is checked as signpost serve would send it, and its feeds wherever the page sends requests.
func (s *Studio) checkOptions(r *http.Request, in checkRequest) (address string, isFile bool, opts client.CheckOptions, why *problem) {
	shown, src, why := s.find(r, in.Source)
	if why != nil {
		return "", false, opts, why
	}
	v, address := src.version(in.Version), src.record.address
	if v == nil && address == "" {
		return "", false, opts, invalid(errors.New("there is no manifest to check yet: fix the errors first"), "")
	}
	opts = client.CheckOptions{Options: s.clientOptions(), Endpoints: make(map[string]client.Values)}
	opts.SkipProbes = in.Send == sendSample // samples say nothing about the feeds
	opts.Lint = func(body []byte) (m signpost.Manifest, findings []signpost.Finding) {
		file := definition.ParseManifest("manifest", body)
		for _, v := range file.Readable(nil) {
			m = v.Manifest
		}
		return m, definition.Lint(file)
	}
	for url, values := range in.Endpoints {
		opts.Endpoints[url] = values.given()
	}
	if in.Follow != nil {
		if opts.Follow = min(*in.Follow, maxCheckFollow); opts.Follow <= 0 {
			opts.Follow = -1
		}
	}
	if in.Schema != nil {
		err := errors.New("this studio does not validate feeds")
		if s.opts.FeedSchema != nil {
			opts.FeedSchema, err = s.opts.FeedSchema(in.Schema.Name, []byte(in.Schema.Text))
		}
		if err != nil {
			return "", false, opts, invalid(err, "Choose another file, or remove it from the options.")
		}
	}
	for _, other := range shown.sources {
		for _, registered := range other.Versions {
			if other != src || registered.Name != in.Version {
				opts.Registered = append(opts.Registered, registered.manifest)
			}
		}
	}
	var origin *url.URL
	if in.Send == sendOrigin {
		var err error
		if origin, err = parseOrigin(in.To); err != nil {
			return "", false, opts, invalid(err, "")
		}
	}
	if address != "" {
		opts.SendTo = origin
		return address, false, opts, nil
	}
	base, name := src.record.good.file.BasePath, cmp.Or(v.Name, "v1") // the address of a saved manifest is unknown
	route := routes.Path(base, name)
	handler := foreignHandler(v.body) // keeps everything that the check has to report
	if v.template != nil {
		service := server.Service{BasePath: base, Versions: map[string]*signpost.Template{name: v.template}}
		served, err := server.New(server.Options{PublicHost: src.Host}, service)
		if err != nil {
			return "", false, opts, invalid(err, "")
		}
		handler = served
	}
	network, manifest := cmp.Or[http.RoundTripper](opts.Transport, http.DefaultTransport), answeredBy(handler)
	opts.Transport = transportFunc(func(req *http.Request) (*http.Response, error) {
		own := onHost(req.URL.String(), src.Host)
		switch {
		case own && req.URL.Path == route:
			return manifest.RoundTrip(req)
		case own && origin != nil:
			req = httpurl.SendTo(req, origin)
		}
		return network.RoundTrip(req)
	})
	return "https://" + src.Host + route, true, opts, nil
}

// foreignHandler serves a manifest with extensions as a good service would.
func foreignHandler(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("ETag", `"saved"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}
