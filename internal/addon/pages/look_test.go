package pages_test

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// lookPort is for looking at the pages: go test -run ToLookAt -look 8098 serves
// a filled addon at that port, with everybody signed in, and one before its first
// update at the next port, until it is interrupted.
var lookPort = flag.Int("look", 0, "serve pages to look at on this port and the next until interrupted")

func TestPagesToLookAt(t *testing.T) {
	if *lookPort == 0 {
		t.Skip("nobody looks")
	}
	s := opened(t, updatedSite.New(t, dbtest.SQLite))
	s.fillIn(t)
	here, err := url.Parse(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	cookies := s.signedIn(t).Jar.Cookies(here)
	look(t, *lookPort, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") == "" && r.URL.Query().Get("as") != "stranger" {
			for _, c := range cookies {
				r.AddCookie(c)
			}
		}
		s.server.Config.Handler.ServeHTTP(w, r)
	})
	fresh := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	fmt.Println("set-up token:", fresh.setupToken(t))
	look(t, *lookPort+1, fresh.server.Config.Handler.ServeHTTP)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
}

func look(t *testing.T, port int, h http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(listener, h)
}
