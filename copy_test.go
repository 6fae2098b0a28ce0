package signpost_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

func manyEndpoints(n int) []signpost.Endpoint {
	var all []signpost.Endpoint
	for i := range n {
		e := fullEndpoint(fmt.Sprintf("https://{{host}}/v1/feeds/%d", i))
		e.Name = fmt.Sprint("Feed ", i)
		all = append(all, e)
	}
	return all
}

// A copy takes a few allocations, however many endpoints there are.
func TestNewManifestAllocations(t *testing.T) {
	endpoints := manyEndpoints(1000)
	if n := testing.AllocsPerRun(10, func() { signpost.NewManifest(endpoints...) }); n > 10 {
		t.Errorf("%v allocations for 1,000 endpoints", n)
	}
}

// The same holds for enabling features.
func TestWithFeaturesAllocations(t *testing.T) {
	m := signpost.NewManifest(manyEndpoints(1000)...)
	for i := range m.Endpoints {
		m.Endpoints[i].ContextObj = nil
	}
	if n := testing.AllocsPerRun(10, func() { m.WithFeatures(signpost.Authentication(), signpost.GeoRestriction()) }); n > 20 {
		t.Errorf("%v allocations for 1,000 endpoints", n)
	}
}

// A template takes little more memory than the manifest that it writes.
func TestTemplateMemory(t *testing.T) {
	m := signpost.NewManifest(manyEndpoints(20_000)...)
	inUse := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := inUse()
	template := compile(t, m)
	took, size := float64(inUse()-before), float64(template.Size(""))
	if took > 1.8*size {
		t.Errorf("a template with a manifest of %.1f MB takes %.1f MB", size/1e6, took/1e6)
	}
	runtime.KeepAlive(m)
	runtime.KeepAlive(template)
}

// What a template shares between endpoints is equal in every respect, and nobody gets hold of it.
func TestTemplateSharesOnlyWhatIsEqual(t *testing.T) {
	var endpoints []signpost.Endpoint
	add := func(change func(*signpost.Endpoint)) {
		e := fullEndpoint(fmt.Sprintf("https://{{host}}/%d", len(endpoints)))
		change(&e)
		endpoints = append(endpoints, e)
	}
	param := func(change func(*signpost.Param)) {
		add(func(e *signpost.Endpoint) { change(&e.Modifiers[0].Params[0]) })
	}
	number := func(value any) {
		param(func(p *signpost.Param) {
			p.UI.Options, p.Schema = nil, signpost.Schema{Type: signpost.TypeNumber, Default: value}
		})
	}
	for range 2 { // each is there twice
		add(func(*signpost.Endpoint) {})
		add(func(e *signpost.Endpoint) { e.ContextObj, e.Modifiers = nil, nil })
		add(func(e *signpost.Endpoint) {
			e.ContextObj, e.Modifiers = []signpost.ContextItem{}, []signpost.Modifier{}
		})
		add(func(e *signpost.Endpoint) { e.ContextObj[0].Mapper = "other" })
		add(func(e *signpost.Endpoint) { e.ContextObj[0].Required = false })
		add(func(e *signpost.Endpoint) { e.Modifiers[0].Name = "other" })
		param(func(p *signpost.Param) { p.UI.Placeholder = "other" })
		param(func(p *signpost.Param) { p.UI.Options[0].Label = "other" })
		param(func(p *signpost.Param) { p.Schema.Enum = nil })
		param(func(p *signpost.Param) { p.Schema.Default = nil })
		number(nil)
		number(20)
		number(20.0)
		number(json.Number("20"))
	}
	template := compile(t, signpost.Manifest{Endpoints: endpoints})
	if diff := cmp.Diff(endpoints, template.Manifest().Endpoints); diff != "" {
		t.Errorf("(-given +got):\n%s", diff)
	}
	got := template.Manifest().Endpoints
	got[0].Modifiers[0].Params[0].UI.Options[0].Label = "scribbled"
	got[0].ContextObj[0].Key = "scribbled"
	if diff := cmp.Diff(endpoints, template.Manifest().Endpoints); diff != "" {
		t.Errorf("after a change to a copy (-given +got):\n%s", diff)
	}
}
