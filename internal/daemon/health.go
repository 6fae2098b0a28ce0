package daemon

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func (d *Daemon) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if d.draining.Load() || len(d.Routes()) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "not ready: no definition has been published, or the server is shutting down")
			return
		}
		fmt.Fprintln(w, "ready")
		for _, name := range *d.rejected.Load() {
			fmt.Fprintf(w, "rejected or unreadable: %q\n", name)
		}
	})
	opts := promhttp.HandlerOpts{Registry: d.metrics.registry, Timeout: 10 * time.Second}
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.metrics.registry, opts))
	return mux
}
