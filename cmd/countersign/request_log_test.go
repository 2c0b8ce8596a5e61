package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
)

// calledID asks a server for a path of its API and returns the request's id.
func (s *running) calledID(path string) string {
	s.t.Helper()
	res, err := http.Get(s.said["store_url"] + path)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.Header.Get("X-Request-Id")
}

func TestATailFollowsARunningServer(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, db dbtest.DB) {
		env := environment{envData: db.Dir, envDB: db.URL}
		server := startServer(t, env, "store", "serve")
		first := server.calledID("/api/items/all")
		for commandIn(t, env, "store", "log", "show", first).code != 0 { // a second at most
		}
		tail := startCommand(t, "", env, "store", "log", "tail", "--follow", "--json")
		follows := func(id string) {
			t.Helper()
			line, err := tail.stdout.ReadBytes('\n')
			var got struct{ ID, Reason string }
			if err != nil || json.Unmarshal(line, &got) != nil || got.ID != id || got.Reason != "key_missing" {
				t.Fatalf("%s, %v; want %s", line, err, id)
			}
		}
		follows(first)
		for range 2 {
			follows(server.calledID("/api/account/details"))
		}
		expect.Equalf(t, tail.stop(), 0, "exit code, %s", tail.stderr)
		expect.Equalf(t, server.stop(), 0, "exit code, %s", server.stderr)
	})
}

func FuzzParseKeep(f *testing.F) {
	for _, text := range []string{"off", "30d", "720h", "30d,10000000", "30d,", ",1", "0d", "30d,-1", "1ns,9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keep, err := parseKeep(text)
		if off := keep.For == 0; err == nil && off != (text == "off") || keep.For < 0 || !off && keep.Calls <= 0 {
			t.Errorf("%q is %+v, %v", text, keep, err)
		}
	})
}
