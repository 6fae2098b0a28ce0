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

	"signpost/client"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/httpurl"
	sources "signpost/internal/source"
)

// overTheNetwork lists the checks that do not apply to a file, because nothing is sent for them.
var overTheNetwork = []string{"https", "reachable", "certificate", "redirect"}

// given returns the values that a check sends. Text that should be JSON but is not is left out: the page reports it
// beside the field, and no request is sent with it.
func (v values) given() client.Values {
	given := client.Values{
		Params: v.Params, Context: make(map[string]string), ContextJSON: make(map[string]json.RawMessage),
	}
	for key, value := range v.Context {
		switch {
		case !value.JSON:
			given.Context[key] = value.Text
		case json.Valid([]byte(value.Text)):
			given.ContextJSON[key] = json.RawMessage(value.Text)
		}
	}
	return given
}

type checkBody struct {
	sourceBody
	Send      string            `json:"send"`
	To        string            `json:"to"`
	Endpoints map[string]values `json:"endpoints"` // what was filled in, by URL
}

// check runs the checks of signpost check, and writes each result as a line of JSON as soon as it is available, the
// progress between them, and how it ended.
func (s *Studio) check(c call, in checkBody) (any, error) {
	address, opts, err := s.checkOptions(c, in)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) {
		send := stream(w, "application/x-ndjson")
		write := func(line object) {
			text, _ := json.Marshal(line) // plain values
			send(string(text) + "\n")
		}
		opts.Progress = func(done, total int) { write(object{"done": done, "total": total}) }
		opts.Observe = func(result client.Result) {
			if c.src.Kind != KindAddress && slices.Contains(overTheNetwork, result.Check) {
				const why = "the file is not deployed yet: check its address when it is"
				result = client.Result{Check: result.Check, Status: client.Skipped, Message: why}
			}
			write(object{"result": result})
		}
		report, _ := client.Check(c.r.Context(), address, opts) // it was one when it was registered
		write(object{"end": true, "ok": report.OK})
	}, nil
}

// checkOptions returns the address to check, and how. A registered address is checked in place; the manifest of a file
// is checked as signpost serve would send it, and its feeds wherever the page sends requests.
func (s *Studio) checkOptions(c call, in checkBody) (address string, opts client.CheckOptions, err error) {
	src := c.src
	v := src.version(in.Version)
	if src.address == nil && (v == nil || !src.isValid()) {
		return "", opts, errors.New("there is no manifest to check yet: fix the errors first")
	}
	opts = client.CheckOptions{Options: s.clientOptions(), Endpoints: make(map[string]client.Values)}
	opts.SkipProbes = in.Send == sendSample // samples say nothing about the feeds
	var route string
	if src.address != nil {
		address = src.address.String()
	} else {
		route = cmp.Or(v.Route, "/v1/endpoints-manifest") // the address of a saved manifest is unknown
		address = "https://" + src.Host + route
	}
	for url, values := range in.Endpoints {
		opts.Endpoints[url] = values.given()
	}
	for _, other := range c.view.sources {
		for _, registered := range other.Versions {
			if other != src || registered.Name != in.Version {
				opts.Registered = append(opts.Registered, registered.manifest)
			}
		}
	}
	var files []*definition.File
	if src.shown != nil {
		for _, other := range c.view.besides(src, src.shown) {
			at := other.Address
			isState := src.address == nil && at != nil && host.Equal(at.Host, src.Host) && at.Path == route
			if !isState {
				files = append(files, other.File)
			}
		}
	}
	opts.Lint = sources.LintServed(address, src.Host, files)
	var origin *url.URL
	if in.Send == sendOrigin {
		origin, err = parseOrigin(in.To)
		if err != nil {
			return "", opts, err
		}
	}
	if src.address != nil {
		opts.SendTo = origin
		return address, opts, nil
	}
	network := cmp.Or[http.RoundTripper](opts.Transport, http.DefaultTransport)
	manifest := answeredBy(manifestHandler(src.body(v)))
	opts.Transport = transportFunc(func(req *http.Request) (*http.Response, error) {
		own := host.Equal(req.URL.Host, src.Host)
		switch {
		case own && req.URL.Path == route:
			return manifest.RoundTrip(req)
		case own && origin != nil:
			req = httpurl.SendTo(req, origin)
		}
		return network.RoundTrip(req)
	})
	return address, opts, nil
}

func manifestHandler(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("ETag", `"saved"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}
