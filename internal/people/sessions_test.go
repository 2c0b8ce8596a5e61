package people

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestSessionIsReadAsItWasSaved(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		if _, found, err := f.LoadSession(t.Context(), "token"); err != nil || found {
			t.Errorf("before: %v, %v", found, err)
		}
		expires := f.clock.Now().Add(time.Hour)
		for token, s := range map[string]SavedSession{
			"nobody yet":   {Data: []byte("flash"), Expires: expires, From: home},
			"without data": {Expires: expires},
			"signed in":    {User: u.ID, Generation: u.Generation, Data: []byte{0, 255}, Expires: expires, From: home},
		} {
			must.Do(t, f.SaveSession(t.Context(), token, s))
			got, found, err := f.LoadSession(t.Context(), token)
			if err != nil || !found || string(got.Data) != string(s.Data) || got.User.ID != s.User || !got.Expires.Equal(expires) || got.ID == 0 {
				t.Errorf("%s: %+v, %v, %v", token, got, found, err)
			}
		}
		f.clock.Move(time.Hour)
		if f.alive(t, "signed in") {
			t.Error("it outlives its end")
		}
	})
}

func TestVisitsMoveASessionOn(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		id := f.session(t, "token", u)
		save := func(data string, from Origin) Session {
			t.Helper()
			must.Do(t, f.SaveSession(t.Context(), "token", SavedSession{User: u.ID, Generation: u.Generation, Data: []byte(data), Expires: f.clock.Now().Add(12 * time.Hour), From: from}))
			list, err := f.Sessions(t.Context(), ada)
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			return list[0]
		}
		began := f.clock.Now()
		f.clock.Move(59 * time.Second)
		want := Session{ID: id, Address: "192.0.2.7", Agent: "Browser 1", CreatedAt: began, SeenAt: began, ExpiresAt: began.Add(12 * time.Hour)}
		expect.Equalf(t, cmp.Diff(want, save(frontEndData, home)), "", "what changes nothing within a minute writes nothing")
		f.clock.Move(time.Second)
		want.SeenAt, want.ExpiresAt = f.clock.Now(), f.clock.Now().Add(12*time.Hour)
		expect.Equalf(t, cmp.Diff(want, save(frontEndData, home)), "", "after a minute the visit is written")
		want.Address, want.Agent = "198.51.100.9", "Browser 2"
		expect.Equalf(t, cmp.Diff(want, save(frontEndData, away)), "", "another address is written at once")
		save("new data", away)
		if got, _, err := f.LoadSession(t.Context(), "token"); err != nil || string(got.Data) != "new data" {
			t.Errorf("new data is written at once: %q, %v", got.Data, err)
		}
	})
}

func TestUserOfATokenIsFixed(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		expires := f.clock.Now().Add(time.Hour)
		must.Do(t, f.SaveSession(t.Context(), "planted", SavedSession{Expires: expires}))
		err := f.SaveSession(t.Context(), "planted", SavedSession{User: u.ID, Generation: u.Generation, Expires: expires})
		wantCode(t, err, "internal")
		if s, _, err := f.LoadSession(t.Context(), "planted"); err != nil || s.User.ID != 0 {
			t.Errorf("a token that was planted is signed in: %+v, %v", s, err)
		}
	})
}

func TestEndedSessionStaysEnded(t *testing.T) {
	ends := map[string]func(t *testing.T, f *fixture, a Actor, id SessionID) error{
		"by its token": func(t *testing.T, f *fixture, _ Actor, _ SessionID) error {
			return f.DeleteSession(t.Context(), "token")
		},
		"from the list": func(t *testing.T, f *fixture, a Actor, id SessionID) error { return f.EndSession(t.Context(), a, id) },
		"from another one": func(t *testing.T, f *fixture, a Actor, _ SessionID) error {
			_, err := f.EndOtherSessions(t.Context(), a, 0)
			return err
		},
	}
	for how, end := range ends {
		t.Run(how, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				u, ada := f.administrator(t)
				id := f.session(t, "token", u)
				must.Do(t, end(t, f, ada, id))
				late := SavedSession{User: u.ID, Generation: u.Generation, Data: []byte("data that comes late"), Expires: f.clock.Now().Add(time.Hour), From: away}
				if err := f.SaveSession(t.Context(), "token", late); err != nil { // a request that was under way
					t.Fatal(err)
				}
				if f.alive(t, "token") {
					t.Error("a late save has revived it")
				}
				if list, err := f.Sessions(t.Context(), ada); err != nil || len(list) != 0 {
					t.Errorf("sessions %+v, %v", list, err)
				}
				wantCode(t, f.EndSession(t.Context(), ada, id), "session_not_found")
				if content := f.content(t); holds(content, frontEndData) || holds(content, string(late.Data)) {
					t.Error("data of it is kept")
				}
			})
		})
	}
}

func TestSessionsAreTheirUsersOwn(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		b := must.Get(f.CreateAdministrator(t.Context(), operator, "bob@site.example", other))(t)
		bob := b.Actor(away)
		first, second, his := f.session(t, "first", u), f.session(t, "second", u), f.session(t, "his", b)
		f.session(t, "third", u)

		wantCode(t, f.EndSession(t.Context(), bob, first), "session_not_found")
		_, err := f.ChangePassword(t.Context(), bob, first, other, "six more quiet green words") // names a session that is not his
		wantCode(t, err, "")
		if !f.alive(t, "first") || f.alive(t, "his") {
			t.Errorf("hers %v, his %v", f.alive(t, "first"), f.alive(t, "his"))
		}
		wantCode(t, f.EndSession(t.Context(), bob, his), "session_not_found") // ended by the change
		if n, err := f.EndOtherSessions(t.Context(), ada, second); err != nil || n != 2 {
			t.Errorf("%d ended, %v", n, err)
		}
		list, err := f.Sessions(t.Context(), ada)
		if err != nil || len(list) != 1 || list[0].ID != second {
			t.Errorf("sessions %+v, %v", list, err)
		}
		if lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "session"}); err != nil || len(lines) != 1 || lines[0].Action != "session.end_others" || lines[0].Detail != "2 sessions ended" {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

func TestExpiredSessionsAreRemoved(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		f.session(t, "old", u)
		f.clock.Move(12 * time.Hour)
		f.session(t, "new", u)
		if _, err := f.db.Session(t.Context(), digestOf("old")); err == nil {
			t.Error("the old one is still there")
		}
	})
}

func TestAgentIsKeptAsOnePrintableLine(t *testing.T) {
	tests := []struct{ rule, in, want string }{
		{"a browser's name", "Mozilla/5.0 (X11; Linux)", "Mozilla/5.0 (X11; Linux)"},
		{"control characters go", "a\x00b\r\nc\x1b[0m", "abc[0m"},
		{"invalid UTF-8 goes", "a\xff\xfeb", "ab"},
		{"200 characters stay", longAgent(201), longAgent(200)},
	}
	for _, tt := range tests {
		expect.Equalf(t, (Origin{Agent: tt.in}).agent(), tt.want, "%s", tt.rule)
	}
}

func longAgent(n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = 'é'
	}
	return string(text)
}
