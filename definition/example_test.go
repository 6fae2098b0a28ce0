package definition_test

import (
	"fmt"
	"log"
	"strings"

	"signpost/definition"
)

const feeds = `
enable: [geo-restriction]
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds:
        name: Feeds
        method: get
        mime_type: application/json
`

func ExampleParse() {
	file := definition.Parse("feeds.yaml", []byte(feeds))
	fmt.Println("base path:", file.BasePath)
	fmt.Println("versions:", file.Versions())
	fmt.Println("features:", file.Features())
	// Output:
	// base path: /
	// versions: [v1]
	// features: [authentication geo-restriction]
}

func ExampleLint() {
	file := definition.Parse("feeds.yaml", []byte(`
enable: [autentication]
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: GET, mime_type: application/json}
`))
	for _, finding := range definition.Lint(file) {
		fmt.Println(finding)
		fmt.Println("  hint:", finding.Hint)
	}
	// Output:
	// feeds.yaml:2:10: error: there is no feature "autentication" [unknown-feature]
	//   hint: did you mean "authentication"?
	// feeds.yaml:6:56: error: method "GET" is not "get" or "post" [method]
	//   hint: write it in lower case: get
}

func ExampleFile_Compile() {
	templates, err := definition.Parse("feeds.yaml", []byte(feeds)).Compile(nil)
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := templates["v1"].Render("feeds.example.com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", manifest)
	// Output:
	// {"endpoints":{"https://feeds.example.com/v1/feeds":{"name":"Feeds","method":"get","mime_type":"application/json","context_obj":[{"key":"signedDeviceInfoToken","type":"ctx","required":false}]}}}
}

func ExampleRenderer() {
	file := definition.Parse("feeds.yaml", []byte("enable: [autentication]\nversions: {v1: {endpoints: {}}}\n"))
	for _, finding := range definition.Errors(file) {
		fmt.Print(definition.Renderer{}.Render(file, finding))
	}
	// Output:
	// feeds.yaml:1:10: error: there is no feature "autentication" [unknown-feature]
	//   |
	// 1 | enable: [autentication]
	//   |          ^~~~~~~~~~~~~
	//   = hint: did you mean "authentication"?
}

func ExampleDiff() {
	old := definition.Parse("old.yaml", []byte("base_path: /old"+feeds))
	new := definition.Parse("new.yaml", []byte("base_path: /new"+strings.ReplaceAll(feeds, "enable: [geo-restriction]", "")))
	changes, err := definition.Diff(old, new)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		fmt.Println(c.Level, c.Rule)
	}
	_, err = definition.Diff(old, definition.Parse("broken.yaml", []byte("versions: 1")))
	fmt.Println(err != nil)
	// Output:
	// breaking base-path-changed
	// notable context-removed
	// true
}
