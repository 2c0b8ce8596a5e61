package pages_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

// stream is a connection that follows calls.
type stream struct {
	*http.Response
	lines *bufio.Scanner
}

func open(t *testing.T, b *webtest.Browser, path string, headers ...string) stream {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.Address+path, nil))(t)
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res := must.Get(b.Do(r))(t)
	t.Cleanup(func() { res.Body.Close() })
	return stream{res, bufio.NewScanner(res.Body)}
}

// until reads lines up to one that contains a text, and returns them; "" reads to the end.
func (s stream) until(text string) string {
	var all strings.Builder
	for s.lines.Scan() {
		all.WriteString(s.lines.Text() + "\n")
		if text != "" && strings.Contains(s.lines.Text(), text) {
			break
		}
	}
	return all.String()
}

func TestCallsAreFollowed(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		number := path[strings.LastIndex(path, "/")+1:]
		_, other := s.makeKey(t, "second")
		old := s.call(t, value)
		b := s.as(t, "viewer")
		page := b.Get("/w/ada/requests?live=1&key=" + number).Status(http.StatusOK).Says("Stop following")
		expect.Equalf(t, len(page.Having("data-live", "/w/ada/requests/live?key="+number+"&last="+old)), 1, "the page does not have the address of the stream")
		if !strings.Contains(page.Body, `<noscript><meta http-equiv="refresh" content="3"></noscript>`) {
			t.Error("without scripts the page does not load itself again")
		}
		live := open(t, b, "/w/ada/requests/live?result=valid")
		if live.StatusCode != http.StatusOK || live.Header.Get("Content-Type") != "text/event-stream" || live.Header.Get("Cache-Control") != "no-store" {
			t.Fatal(live.Status, live.Header)
		}
		id := s.call(t, value)
		if text := live.until("/requests/" + id + `"`); !strings.Contains(text, "id: "+id+"\n") || !strings.Contains(text, "data: <tr") || strings.Contains(text, value) {
			t.Errorf("the event is %s", text)
		}
		again := open(t, b, "/w/ada/requests/live?key="+number, "Last-Event-ID", id)
		s.call(t, other)
		if text := again.until(id); !strings.Contains(text, id) {
			t.Errorf("the call around which the connection ended is missing: %s", text)
		}
	})
}

func TestAStreamOfCallsEndsWithTheRightToSeeThem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		viewer := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email("viewer")))(t)
		owner := s.as(t, "owner")
		removed, ended := open(t, s.as(t, "viewer"), "/w/ada/requests/live"), open(t, owner, "/w/ada/requests/live")
		must.Get(s.RemoveMember(t.Context(), operator, "ada", viewer.ID))(t)
		removed.until("")
		owner.Post("/logout")
		ended.until("")
		again := open(t, owner, "/w/ada/requests/live")
		if again.StatusCode == http.StatusOK {
			t.Error("somebody who has left follows calls")
		}
	})
}

func TestStreamsOfCallsAreBounded(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "viewer")
		var last stream
		for range 5 {
			last = open(t, b, "/w/ada/requests/live")
		}
		if last.StatusCode != http.StatusTooManyRequests || last.Header.Get("Retry-After") == "" {
			t.Errorf("the fifth of one user: %s", last.Status)
		}
		for i := range 3 {
			name := string(rune('a'+i)) + "@crowd.example"
			_, token, err := s.Invite(t.Context(), operator, "ada", name, store.RoleViewer)
			if err == nil {
				_, _, err = s.AcceptAsNew(t.Context(), people.Origin{}, token, name, password)
			}
			must.Do(t, err)
			one := s.browser(t)
			one.Post("/login", "email", name, "password", password).LeadsTo("/")
			for range 4 {
				if last = open(t, one, "/w/ada/requests/live"); last.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s", name, last.Status)
				}
			}
		}
		if last = open(t, s.as(t, "owner"), "/w/ada/requests/live"); last.StatusCode != http.StatusOK {
			t.Errorf("one of a user who has none, where four have all: %s", last.Status)
		}
	})
}

func TestTheListOfCallsIsNarrowedToATime(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, value := s.makeKey(t, "till")
		id := s.call(t, value) // at noon
		b := s.as(t, "viewer")
		for query, has := range map[string]bool{
			"from=2026-11-01": true, "from=2026-11-01+12:00": true, "from=2026-11-01+12:01": false, "to=2026-11-01+12:00": false, "to=2026-11-02": true,
		} {
			if strings.Contains(b.Get("/w/ada/requests?"+query).Status(http.StatusOK).Text(), id) != has {
				t.Errorf("%s: the call is in the list: %t", query, !has)
			}
		}
		b.Get("/w/ada/requests?from=soon").Status(http.StatusUnprocessableEntity).Says("Type a date, or a date and a time in UTC")
		page := b.Get("/w/ada/requests?result=valid&from=2026-11-01")
		for _, path := range []string{"/w/ada/requests?from=2026-11-01+11%3A00&result=valid", "/w/ada/requests?from=2026-10-31+12%3A00&result=valid", "/w/ada/requests?from=2026-10-25+12%3A00&result=valid", "/w/ada/requests?live=1&result=valid"} {
			expect.Equalf(t, len(page.Having("href", path)), 1, "no link to %s", path)
		}
	})
}
