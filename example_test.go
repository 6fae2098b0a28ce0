package signpost_test

import (
	"errors"
	"fmt"
	"os"

	"signpost"
)

func Example() {
	limit := signpost.Number(signpost.ModifierInput{
		ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20, Placeholder: "1 to 100",
	})
	manifest := signpost.NewManifest(
		signpost.Endpoint{
			URL: "https://{{host}}/v1/feeds", Name: "Collections",
			Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
			Modifiers: []signpost.Modifier{limit},
		},
		signpost.Endpoint{
			URL: "https://{{host}}/v1/feeds/media", Name: "Media",
			Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		},
	)
	template, err := signpost.Compile(manifest, signpost.Authentication())
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := template.Render("api.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(response)
	// Output:
	// {"endpoints":{"https://api.example.com/v1/feeds":{"name":"Collections","method":"get","mime_type":"application/json","context_obj":[],"modifiers":[{"id":"limit","name":"Page size","params":[{"key":"limit","ui":{"label":"Limit","placeholder":"1 to 100"},"schema":{"type":"number","default":20}}]}]},"https://api.example.com/v1/feeds/media":{"name":"Media","method":"get","mime_type":"application/json","context_obj":[{"key":"plugin-login-flow.access_token","type":"ctx","required":true}]}}}
}

// Compile returns all errors of an invalid manifest at once.
func ExampleCompile() {
	manifest := signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/v1/feeds", Name: "Collections", Method: "GET", MIMEType: "json",
	})
	_, err := signpost.Compile(manifest)
	var invalid *signpost.InvalidError
	if errors.As(err, &invalid) {
		for _, finding := range invalid.Findings {
			fmt.Println(finding)
			fmt.Println("  hint:", finding.Hint)
		}
	}
	// Output:
	// https://{{host}}/v1/feeds.method: error: method "GET" is not "get" or "post" [method]
	//   hint: write it in lower case: get
	// https://{{host}}/v1/feeds.mime_type: error: mime_type "json" is not a media type (type/subtype) [mime-type]
	//   hint: the usual one is application/json
}

func ExampleURL_Bind() {
	u, err := signpost.ParseURL("https://feeds.example.com/series/{{series_id}}/episodes")
	if err != nil {
		panic(err)
	}
	bound, err := u.Bind(map[string]string{"series_id": "the wire"})
	fmt.Println(bound, err)
	// Output: https://feeds.example.com/series/the%20wire/episodes <nil>
}
