package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// floorAnswer is what the floor writes to everything: what the store answered to
// the first request of the case, headers included.
type floorAnswer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
	// File is served by http.ServeFile in place of the body.
	File string `json:"file"`
}

// serveFloor reads the answer from in, prints its own address to out, and
// serves until in ends.
func serveFloor(in io.Reader, out io.Writer) error {
	var a floorAnswer
	if err := json.NewDecoder(in).Decode(&a); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("/", a.serve)
	return http.Serve(listener, mux)
}

// serve does what no handler of such an answer can do without.
func (a floorAnswer) serve(w http.ResponseWriter, r *http.Request) {
	if a.File != "" {
		http.ServeFile(w, r, a.File)
		return
	}
	if err := r.ParseForm(); err != nil || (r.Method == http.MethodPost && r.PostForm.Get("purchase_code") == "") {
		http.Error(w, "bad form", http.StatusBadRequest)
		return
	}
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
