// Command feedservice is a complete feed service: it publishes its manifest and serves the feeds that it declares.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()
	service, err := newService()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("feeds are at http://%s", *listen)
	feeds := http.Server{Handler: service, ReadTimeout: 10 * time.Second} // the middleware limits the size of a body; this limits the time
	log.Fatal(feeds.Serve(listener))
}
