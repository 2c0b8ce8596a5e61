package pages_test

import (
	"context"
	"flag"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// lookAddress is for looking at the pages: go test -run ToLookAt -look
// 127.0.0.1:8098 serves a filled addon there, with everybody signed in, and one
// before its first update at the next port, until it is interrupted.
var lookAddress = flag.String("look", "", "serve filled pages on this address until interrupted")

func TestPagesToLookAt(t *testing.T) {
	s := updated(t, dbtest.New(t, dbtest.SQLite))
	s.fillIn(t)
	b := s.signedIn(t)
	for _, path := range []string{"/api-addons/admin", "/api-addons/admin/app/settings", "/api-addons/admin/iap/settings"} {
		b.get(path).status(http.StatusOK)
	}
	if *lookAddress == "" {
		return
	}
	here, err := url.Parse(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", *lookAddress)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cookies := b.Jar.Cookies(here)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range cookies {
			if r.Header.Get("Cookie") == "" && r.URL.Query().Get("as") != "stranger" {
				r.AddCookie(c)
			}
		}
		s.server.Config.Handler.ServeHTTP(w, r)
	}))
	<-ctx.Done()
}
