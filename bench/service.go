package main

import (
	"bytes"
	"fmt"
)

// service returns the definition of a service at /s{number}, or at the root for 0, whose manifest has about 560 bytes
// per endpoint: typical names, the context key of a feature, and two modifiers.
func service(number, endpoints int) []byte {
	var out bytes.Buffer
	base := ""
	if number > 0 {
		base = fmt.Sprintf("/s%d", number)
		fmt.Fprintf(&out, "base_path: %s\n", base)
	}
	out.WriteString(`enable: [geo-restriction]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Items per page, defaultValue: 20}
versions:
  v1:
    endpoints:
`)
	for i := range endpoints {
		fmt.Fprintf(&out, `      https://{{host}}%s/v1/feeds/%d/{{id}}:
        name: Feed %d
        method: get
        mime_type: application/json
        modifiers:
          - limit
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, options: [{value: newest, label: Newest first}, {value: title, label: Title}]}
`, base, i, i)
	}
	return out.Bytes()
}
