package diff_test

import (
	"fmt"
	"log"

	"signpost"
	"signpost/diff"
)

// Diff explains what a change means to studios that registered the old state.
func ExampleDiff() {
	service := func(name, method string) signpost.Service {
		manifest := signpost.NewManifest(signpost.Endpoint{URL: "https://{{host}}/feeds", Name: name, Method: method, MIMEType: signpost.MIMEJSON})
		return signpost.Service{Versions: []signpost.Version{{Name: "v1", Manifest: manifest}}}
	}
	changes, err := diff.Diff(service("Feeds", signpost.MethodGet), service("All feeds", signpost.MethodPost))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		fmt.Printf("%s: %s [%s]\n", c.Level, c.Message, c.Rule)
	}
	// Output:
	// notable: name changed from "Feeds" to "All feeds" [name-changed]
	// breaking: method changed from "get" to "post" [method-changed]
}
