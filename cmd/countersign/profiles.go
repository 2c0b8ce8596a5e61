package main

import (
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profilesPath is where pprof is served.
const profilesPath = "/debug/pprof/"

// metricsHandler serves the metrics, and with --pprof the profiles.
func (l *server) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", l.counted.Handler())
	if l.options.pprof {
		addProfiles(mux)
	}
	return mux
}

// addProfiles adds what `go tool pprof` reads. The command line is left out, because it may
// contain the password of a database.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET "+profilesPath, withoutReadDeadline(pprof.Index))
	mux.HandleFunc("GET "+profilesPath+"profile", withoutReadDeadline(pprof.Profile))
	mux.HandleFunc("GET "+profilesPath+"trace", withoutReadDeadline(pprof.Trace))
	mux.HandleFunc("GET "+profilesPath+"symbol", pprof.Symbol)
	mux.HandleFunc("GET "+profilesPath+"cmdline", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Not served: the command line may contain a password", http.StatusNotFound)
	})
}

// withoutReadDeadline lets a handler take longer than the server allows for reading a request, after
// which net/http ends the request's context. pprof itself moves the deadline of the response.
func withoutReadDeadline(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // without it the profile is shorter
		next(w, r)
	}
}

// adviseProfiles warns of profiles that other machines can read.
func (l *server) adviseProfiles() {
	if !l.options.pprof || l.metrics.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return
	}
	l.log.Warn("other machines can read profiles of this server; set --metrics to an address of this machine, or leave out --pprof",
		"metrics", l.metrics.Addr().String(), "why", "profiles show what the server does, and slow it down")
}
