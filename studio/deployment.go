package studio

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost/host"
)

// serveDeployment changes the value of {{host}}, the features of a file, and the origin that requests can be sent to.
// They are stored here, so that several tabs agree.
func (s *Studio) serveDeployment(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Host     *string   `json:"host"`
		SendTo   *string   `json:"send_to"`
		Source   string    `json:"source"` // the source of the features
		Features *[]string `json:"features"`
	}
	if !read(w, r, &in) {
		return
	}
	if failed := s.deploy(in.Host, in.SendTo, in.Source, in.Features); failed != nil {
		refuse(w, *failed)
		return
	}
	reply(w, struct{}{})
}

func (s *Studio) deploy(hostText, sendToText *string, id string, features *[]string) *problem {
	invalid := func(detail, hint string) *problem {
		return &problem{Status: http.StatusUnprocessableEntity, Detail: detail, Hint: hint}
	}
	name, sendTo := "", ""
	var err error
	if hostText != nil {
		text := strings.TrimSpace(*hostText)
		if alone, port, err := net.SplitHostPort(text); err == nil && port != "" {
			return invalid(fmt.Sprintf("%q has a port, and {{host}} never carries one.", text),
				fmt.Sprintf("Enter %s. To reach a service on another port, use Send to with an origin such as http://%s.", alone, text))
		}
		if name, err = host.ParseName(text); err != nil {
			return invalid(sentence(err.Error()), "Enter a hostname, such as feeds.example.com.")
		}
	}
	if sendToText != nil {
		if sendTo, err = parseOrigin(*sendToText); err != nil {
			return invalid(sentence(err.Error()), "Enter an origin, such as http://localhost:3000.")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var of *fileState
	if features != nil {
		i := slices.IndexFunc(s.files, func(f *fileState) bool { return f.name == id })
		if i < 0 || s.files[i].given.Definition == nil {
			return &noSource
		}
		of = s.files[i]
		for _, feature := range *features {
			if known := of.given.Definition.Features(); !slices.Contains(known, feature) {
				return invalid(fmt.Sprintf("There is no feature %q.", feature), "")
			}
		}
	}
	if hostText != nil {
		for _, f := range s.files {
			if f.good == nil {
				continue
			}
			if _, _, err := f.good.resolve(name); err != nil {
				return invalid(sentence(err.Error()), "Enter another host.")
			}
		}
	}
	rev := s.bump()
	if sendToText != nil {
		s.sendTo = sendTo
	}
	if of != nil {
		of.features = *features
		of.redeploy(s, rev)
	}
	if hostText != nil && name != s.host {
		s.host = name
		for _, f := range s.files {
			f.build(s, rev)
		}
	}
	return nil
}

// redeploy compiles the last good text, and the texts it is compared with, with other features. Flipping a switch is
// not a change of the definition.
func (state *fileState) redeploy(s *Studio, rev int) {
	for _, c := range []**compiled{&state.good, &state.base, &state.previous} {
		if *c == nil {
			continue
		}
		f := (*c).file
		known := f.Features()
		enabled := slices.DeleteFunc(slices.Clone(state.features), func(name string) bool { return !slices.Contains(known, name) })
		if again, err := compile(f, (*c).text, enabled); err == nil {
			*c = again
		}
	}
	state.restored = nil // contains other features
	if state.base != nil && state.good != nil && state.base.file == state.good.file {
		state.base = state.good
	}
	state.build(s, rev)
}

// parseOrigin validates an origin that requests are sent to, and returns it without a trailing slash. Empty means none.
func parseOrigin(text string) (string, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "/")
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("%q is not an origin", text)
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q is more than an origin: remove everything except scheme, host and port", text)
	}
	return strings.ToLower(u.Scheme + "://" + u.Host), nil
}
