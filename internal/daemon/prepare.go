package daemon

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"signpost"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/source"
	"signpost/server"
)

// prepared is a definition that is ready to be published.
type prepared struct {
	file     *definition.File
	findings []signpost.Finding
	service  *server.Service // nil if there are errors
}

// preparer turns documents into services.
type preparer struct {
	features []string // nil means those that each definition enables
	basePath string   // overrides that of the definition, unless empty
	host     string   // used to test that manifests can be rendered
	discard  bool     // drop each file once it is compiled, when nobody is going to print its lines
}

// all prepares documents on all cores.
func (p preparer) all(documents []source.Document) []prepared {
	results := make([]prepared, len(documents))
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range min(len(documents), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			trial, _ := server.New(server.Options{}) // the zero value is valid
			for i := range numbers {
				results[i] = p.one(documents[i], trial)
				if p.discard {
					results[i].file = nil
				}
			}
		})
	}
	for i := range documents {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	return results
}

// one prepares a document, and publishes it on trial. All problems become findings, so that one definition never keeps
// others from being published.
func (p preparer) one(d source.Document, trial *server.Handler) (result prepared) {
	failed := func(rule, format string, args ...any) {
		result.service = nil
		result.findings = append(result.findings, signpost.Finding{
			Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), File: d.Name, Line: 1, Column: 1,
			Hint: "this is a bug in Signpost: please report it with the definition",
		})
	}
	defer func() {
		if defect := recover(); defect != nil {
			failed("defect", "the definition cannot be read: %v\n%s", defect, debug.Stack())
		}
	}()
	result.file = definition.Parse(d.Name, d.Text)
	if p.basePath != "" {
		result.file.BasePath = p.basePath
	}
	if result.findings = definition.Lint(result.file); slices.ContainsFunc(result.findings, isError) {
		return result
	}
	service, err := p.compile(result.file, trial)
	if err != nil {
		failed("defect", "lint accepts the definition, but it cannot be published: %v", err)
		return result
	}
	result.service = service
	return result
}

// compile compiles a definition, and checks that it can be published and rendered.
func (p preparer) compile(file *definition.File, trial *server.Handler) (*server.Service, error) {
	versions, err := file.Compile(source.KnownFeatures(file, p.features))
	if err != nil {
		return nil, err
	}
	service := server.Service{BasePath: file.BasePath, Versions: versions, Deprecated: deprecations(file)}
	if err := trial.Publish(service); err != nil {
		return nil, err
	}
	for version, template := range versions {
		if _, err := template.Render(p.host); err != nil {
			return nil, fmt.Errorf("version %s: %w", version, err)
		}
	}
	return &service, nil
}

// deprecations returns the deprecated versions of a definition.
func deprecations(file *definition.File) map[string]signpost.Deprecation {
	deprecated := make(map[string]signpost.Deprecation)
	for _, version := range file.Versions() {
		if d := file.Deprecation(version, "", ""); d != nil {
			deprecated[version] = *d
		}
	}
	return deprecated
}

// plausibleHost returns a host name that requests may have. It is not an IP address, because a manifest may not exist
// for these.
func plausibleHost(opts server.Options) string {
	for _, name := range append([]string{opts.PublicHost}, opts.AllowedHosts...) {
		name = strings.Replace(name, "*", "feeds", 1)
		if name, err := host.Parse(name); err == nil && !host.IsIP(name) {
			return name
		}
	}
	return "feeds.example.com"
}
