package openapi_test

import (
	"fmt"
	"os"

	"signpost/openapi"
)

func ExampleImport() {
	document := `
openapi: 3.1.0
info: {title: Example feeds, version: 1.2.0}
servers: [{url: /v1}]
paths:
  /series/{series_id}/episodes:
    get:
      summary: Episodes
      parameters:
        - {name: limit, in: query, description: Page size, schema: {type: [integer, "null"], default: 20}}
        - {name: filter, in: query, schema: {type: object}}
      responses:
        "200": {description: Episodes, content: {application/json: {}}}
`
	result, err := openapi.Import("api.yaml", []byte(document), openapi.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(result.Definition)
	fmt.Println()
	for _, note := range result.Notes {
		fmt.Println(note)
	}
	// Output:
	// # Imported from api.yaml by signpost import.
	//
	// service: Example feeds
	//
	// versions:
	//   v1:
	//     endpoints:
	//       https://{{host}}/v1/series/{{series_id}}/episodes:
	//         # parameter "filter" is left out: a modifier has a single value, but this is an object
	//         name: Episodes
	//         method: get
	//         mime_type: application/json
	//         context_obj: []
	//         modifiers:
	//           - {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}
	//
	// api.yaml:11: GET /series/{series_id}/episodes: parameter "filter" is left out: a modifier has a single value, but this is an object
}
