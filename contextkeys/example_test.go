package contextkeys_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"signpost"
	"signpost/contextkeys"
)

// In a feed service, the manifest and the middleware share one list of context items, including those of features.
func ExampleMiddleware() {
	const mediaURL = "https://{{host}}/v1/media"
	manifest, err := signpost.Compile(signpost.NewManifest(signpost.Endpoint{
		URL: mediaURL, Name: "Media", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
		ContextObj: []signpost.ContextItem{{Key: "user_account.profile", Type: signpost.ContextCtx, Mapper: "profile"}},
	}), signpost.Authentication())
	if err != nil {
		log.Fatal(err)
	}
	media, err := manifest.Endpoint(mediaURL)
	if err != nil {
		log.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys := contextkeys.FromContext(r.Context())
		token, _ := keys.Text("plugin-login-flow.access_token") // required, so it is present
		profile, ok := keys.Int64("user_account.profile")
		fmt.Fprintf(w, "token of %d bytes, profile %d %v\n", len(token), profile, ok)
	})
	mux := http.NewServeMux()
	mux.Handle("GET /v1/media", contextkeys.Middleware(media.ContextObj)(handler))

	// An app encodes its values for the endpoint.
	ctx, err := contextkeys.Encode(media.ContextObj, map[string]any{"plugin-login-flow.access_token": "s3cr3t", "user_account.profile": 7})
	if err != nil {
		log.Fatal(err)
	}
	service := httptest.NewServer(mux)
	defer service.Close()
	for _, query := range []string{"?ctx=" + ctx, "?ctx=" + base64.RawURLEncoding.EncodeToString([]byte(`{"plugin-login-flow.access_token":"undefined"}`))} {
		response, err := http.Get(service.URL + "/v1/media" + query)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		fmt.Printf("%s %s\n%s", response.Status, response.Header.Get("Content-Type"), body)
	}

	// Output:
	// 200 OK text/plain; charset=utf-8
	// token of 6 bytes, profile 7 true
	// 400 Bad Request application/problem+json
	// {"type":"about:blank","title":"Bad Request","status":400,"detail":"The required context key \"plugin-login-flow.access_token\" is missing: \"undefined\" counts as no value; send one in the ctx query parameter.","key":"plugin-login-flow.access_token"}
}

// A service whose apps log in on 401 sends its own response for a missing key.
func ExampleFromRequest() {
	items := signpost.Authentication().ContextObj
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys, err := contextkeys.FromRequest(r, items)
		if _, missing := errors.AsType[*contextkeys.MissingError](err); missing {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, keys) // only the names: values are never printed by accident
	})

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/v1/media", nil))
	fmt.Print(w.Code, " ", w.Body)

	// Output:
	// 401 log in first
}

func ExampleEncode() {
	items := []signpost.ContextItem{
		{Key: "plugin-login-flow.access_token", Type: signpost.ContextCtx, Required: true},
		{Key: "user_account.profile", Type: signpost.ContextCtx, Mapper: "profile"},
	}
	ctx, err := contextkeys.Encode(items, map[string]any{"plugin-login-flow.access_token": "s3cr3t", "user_account.profile": 7, "undeclared": true})
	if err != nil {
		log.Fatal(err)
	}
	object, _ := base64.RawURLEncoding.DecodeString(ctx)
	fmt.Printf("?ctx=%s\n%s\n", ctx, object)

	_, err = contextkeys.Encode(items, map[string]any{"plugin-login-flow.access_token": ""})
	fmt.Println(err)

	// Output:
	// ?ctx=eyJwbHVnaW4tbG9naW4tZmxvdy5hY2Nlc3NfdG9rZW4iOiJzM2NyM3QiLCJwcm9maWxlIjo3fQ
	// {"plugin-login-flow.access_token":"s3cr3t","profile":7}
	// required context key "plugin-login-flow.access_token" is missing: "" counts as no value; send one in the ctx query parameter
}

func ExampleDecode() {
	v, err := contextkeys.Decode("eyJwcm9maWxlIjo3LCJsYW5nIjoiZW4ifQ==")
	if err != nil {
		log.Fatal(err)
	}
	for name, value := range v.All() {
		fmt.Println(name, value)
	}
	_, err = contextkeys.Decode("eyJwcm9maWxlIjo3LCJsYW5nIjoiZW4")
	fmt.Println(err)

	// Output:
	// lang en
	// profile 7
	// ctx query parameter is not JSON: invalid at byte 23 of 23
}

func ExampleEncodeBody() {
	items := []signpost.ContextItem{{Key: "deviceId", Type: signpost.ContextBodyParam, Required: true, Mapper: "device"}}
	body, contentType, err := contextkeys.EncodeBody(items, map[string]any{"deviceId": "tv 1"}, signpost.MIMEForm)
	fmt.Println(contentType, string(body), err)

	_, _, err = contextkeys.EncodeBody(items, nil, signpost.MIMEForm)
	fmt.Println(err)

	// Output:
	// application/x-www-form-urlencoded device=tv+1 <nil>
	// required context key "deviceId" is missing: it goes into the request body as "device"
}
