package people

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// failedLines are the entries about failed sign-ins as text, newest first.
func (f *fixture) failedLines(t *testing.T) (texts []string) {
	t.Helper()
	lines := must.Get(f.Audit(t.Context(), operator, AuditFilter{Action: "user.refuse_sign_in", Limit: maxAuditLimit}))(t)
	for _, l := range lines {
		if l.Kind != KindVisitor || l.Actor != "" || l.FrontEnd != FrontEndPage {
			t.Errorf("the actor of %+v", l)
		}
		texts = append(texts, strings.Join([]string{l.At.Format("15:04:05"), l.Address, l.Subject, l.Detail}, " | "))
	}
	return texts
}

func (f *fixture) writeDown(t *testing.T) {
	t.Helper()
	must.Do(t, f.writeFailed(t.Context(), f.clock.Now()))
}

func TestFailedSignInsAreFoldedByAddressAndMinute(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		must.Get(f.CreateAdministrator(t.Context(), operator, "bob@site.example", password))(t)
		f.clock.Move(20 * time.Second)
		fail := func(from Origin, email string) { _, _ = f.SignIn(t.Context(), from, email, other) }
		fail(home, email)
		fail(home, "bob@site.example")
		fail(home, "this is the password of somebody")
		f.clock.Move(10 * time.Second)
		fail(home, "eve@site.example")
		for range addressFailures {
			fail(Origin{Addr: netip.MustParseAddr("2001:db8::5")}, email)
		}
		fail(Origin{Addr: netip.MustParseAddr("2001:db8::6")}, email)
		f.writeDown(t)
		if got := f.failedLines(t); len(got) != 0 {
			t.Errorf("before the minute has ended: %q", got)
		}
		f.clock.Move(time.Minute)
		fail(home, email)
		f.writeDown(t)
		want := []string{
			"12:00:30 | 192.0.2.7 | ada@site.example, bob@site.example | 4 wrong in this minute, 2 of them with an unknown e-mail",
			"12:00:30 | 2001:db8::/64 | ada@site.example | 10 wrong in this minute; 1 more refused by the limit",
		}
		if got := f.failedLines(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		f.Close(t.Context())
		if got := f.failedLines(t); len(got) != 3 || !strings.HasPrefix(got[0], "12:01:30 | 192.0.2.7 | ada@site.example | 1 wrong") {
			t.Errorf("at the end: %q", got)
		}
		if content := f.content(t); holds(content, "eve@site") || holds(content, "somebody") || holds(content, other) {
			t.Error("what was typed stands in the database")
		}
	})
}

func TestFailedSignInsOfManyAddressesAreFewEntries(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		for i := range failedAddresses + 500 {
			a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			f.failed.note(f.clock.Now(), a, failedSignIn{})
		}
		busy := netip.MustParseAddr("10.0.0.77")
		f.failed.note(f.clock.Now(), busy, failedSignIn{email: email})
		f.clock.Move(time.Minute)
		f.writeDown(t)
		got := f.failedLines(t)
		if len(got) != failedLines+1 {
			t.Fatalf("%d lines", len(got))
		}
		if !strings.Contains(got[failedLines], "10.0.0.77 | ada@site.example | 2 wrong") {
			t.Errorf("the address with the most failures: %s", got[failedLines])
		}
		want := fmt.Sprintf("%d failed in this minute from more than %d other addresses", failedAddresses+500-failedLines, failedAddresses-failedLines)
		if !strings.HasSuffix(got[0], want) {
			t.Errorf("%s, want %s", got[0], want)
		}
	})
}

func TestFailedSignInsNameFewEmails(t *testing.T) {
	a := failedAddress{emails: map[string]struct{}{}, wrong: 7}
	for i := range failedEmails + 2 {
		a.emails[fmt.Sprintf("%d@site.example", i)] = struct{}{}
	}
	want := "0@site.example, 1@site.example, 2@site.example, 3@site.example, 4@site.example and 2 more"
	expect.Equal(t, a.line().event.Subject, want)
}

func TestFailedSignInsWaitForTheDatabase(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		again := f.second(t)
		must.Do(t, f.database.Close())
		for range failedMinutes + 3 {
			f.failed.note(f.clock.Now(), home.Addr, failedSignIn{})
			f.clock.Move(time.Minute)
			if err := f.writeFailed(t.Context(), f.clock.Now()); err == nil {
				t.Fatal("a closed database was written to")
			}
		}
		f.People.db = again.People.db
		f.writeDown(t)
		if got := f.failedLines(t); len(got) != failedMinutes {
			t.Errorf("%d lines: %q", len(got), got)
		}
	})
}
