// Command bare is the upper bound: a net/http handler that writes constant bytes.
//
//	bare address file file.gz
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"
)

func main() {
	plain, gzip := read(os.Args[2]), read(os.Args[3])
	http.HandleFunc("/v1/endpoints-manifest", func(w http.ResponseWriter, r *http.Request) {
		header, body := w.Header(), plain
		if r.Header.Get("Accept-Encoding") != "" {
			header.Set("Content-Encoding", "gzip")
			body = gzip
		}
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func read(name string) []byte {
	body, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	return body
}
