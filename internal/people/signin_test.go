package people

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
)

func TestSignInDoesNotSayWhichOfTheTwoWasWrong(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		tests := []struct{ rule, email, password, code string }{
			{"a right pair is good", email, password, ""},
			{"the e-mail counts in any letter case", " ADA@Site.Example ", password, ""},
			{"a wrong password is refused", email, other, "sign_in_refused"},
			{"letter case of the password counts", email, strings.ToUpper(password), "sign_in_refused"},
			{"no password is refused", email, "", "sign_in_refused"},
			{"an unknown e-mail is refused", "bob@site.example", password, "sign_in_refused"},
			{"what is no e-mail is refused", "' OR 1=1 --\x00", password, "sign_in_refused"},
			{"an endless password is refused", email, strings.Repeat(password, 1000), "sign_in_refused"},
		}
		var refusal string
		for _, tt := range tests {
			in, err := f.SignIn(t.Context(), home, tt.email, tt.password)
			if codeOf(err) != tt.code || (in.User.ID != 0) != (tt.code == "") {
				t.Errorf("%s: %+v, %v", tt.rule, in, err)
			}
			if err == nil {
				continue
			}
			if refusal == "" {
				refusal = err.Error()
			}
			expect.Equalf(t, err.Error(), refusal, "%s: %q as for the others", tt.rule, err)
		}
		if log := f.log.String(); strings.Contains(log, "@site.example") || strings.Contains(log, "words") || !strings.Contains(log, "client=192.0.2.7") {
			t.Errorf("the log says %s", log)
		}
	})
}

func TestSignInIsLimitedByAddress(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		fail := func(from Origin, i int) error {
			_, err := f.SignIn(t.Context(), from, fmt.Sprintf("%d@site.example", i), password)
			return err
		}
		for i := range addressFailures {
			wantCode(t, fail(home, i), "sign_in_refused")
		}
		f.clock.Move(time.Minute)
		_, err := f.SignIn(t.Context(), home, email, password)
		var limited *countersign.Error
		if !errors.As(err, &limited) || limited.Kind != countersign.KindLimited || limited.RetryAfter != 14*time.Minute || !strings.Contains(limited.Message, "14 minutes") {
			t.Errorf("after %d failures: %v", addressFailures, err)
		}
		if _, err := f.SignIn(t.Context(), away, email, password); err != nil {
			t.Errorf("another address: %v", err)
		}
		f.clock.Move(14 * time.Minute)
		if _, err := f.SignIn(t.Context(), home, email, password); err != nil {
			t.Errorf("after the wait: %v", err)
		}
	})
}

func TestSignInIsLimitedByEmailFromAllAddresses(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		from := func(i int) Origin { return Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})} }
		for i := range emailFailures {
			_, err := f.SignIn(t.Context(), from(i), "ADA@site.example", other)
			wantCode(t, err, "sign_in_refused")
		}
		_, err := f.SignIn(t.Context(), home, email, password)
		wantCode(t, err, "rate_limited")
		_, err = f.SignIn(t.Context(), home, "bob@site.example", password)
		wantCode(t, err, "sign_in_refused")
	})
}

func TestSuccessesAreNotLimited(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		for range addressFailures + 2 {
			must.Get(f.SignIn(t.Context(), home, email, password))(t)
		}
	})
}

func TestManyGuessesAtOnceStayWithinTheLimit(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		counts := atOnce(addressFailures+5, func(int) error {
			_, err := f.SignIn(t.Context(), home, email, other)
			return err
		})
		if counts["sign_in_refused"] != addressFailures || counts["rate_limited"] != 5 {
			t.Errorf("outcomes %v", counts)
		}
	})
}

func TestLimitAddress(t *testing.T) {
	tests := []struct {
		rule, a, b string
		same       bool
	}{
		{"IPv4 counts by address", "192.0.2.7", "192.0.2.8", false},
		{"IPv6 counts by /64", "2001:db8::1", "2001:db8::ffff:1", true},
		{"another /64 is another client", "2001:db8::1", "2001:db8:0:1::1", false},
		{"IPv4 in IPv6 is IPv4", "::ffff:192.0.2.7", "192.0.2.7", true},
		{"a zone does not matter", "fe80::1%eth0", "fe80::1%eth1", true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			a, b := limitAddress(netip.MustParseAddr(tt.a)), limitAddress(netip.MustParseAddr(tt.b))
			if (a == b) != tt.same {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
	expect.Equalf(t, limitAddress(netip.Addr{}), "", "an invalid address has no key")
}

func TestSignInLinkIsGoodOnceForTenMinutes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		f.enableTOTP(t, ada, password)
		link := func() string {
			t.Helper()
			token, expires, err := f.NewSignInLink(t.Context(), operator, " ADA@site.example ")
			must.Do(t, err)
			if want := f.clock.Now().Add(10 * time.Minute); !expires.Equal(want) {
				t.Errorf("it expires at %v, want %v", expires, want)
			}
			return token
		}
		_, _, err := f.NewSignInLink(t.Context(), operator, "bob@site.example")
		wantCode(t, err, "user_not_found")
		_, _, err = f.NewSignInLink(t.Context(), operator, "ada")
		wantCode(t, err, "email_invalid")

		token := link()
		if got, err := f.SignInByLink(t.Context(), home, token); err != nil || got.ID != u.ID || !got.SignedInAt.Equal(f.clock.Now()) {
			t.Errorf("%+v, %v", got, err)
		}
		_, err = f.SignInByLink(t.Context(), home, token)
		wantCode(t, err, "link_used")
		_, err = f.SignInByLink(t.Context(), home, "")
		wantCode(t, err, "link_unknown")

		late := link()
		f.clock.Move(10*time.Minute - time.Second)
		wantCode(t, f.checkLink(t.Context(), f.db, peopledb.PurposeSetup, late), "link_unknown") // of another purpose
		f.clock.Move(time.Second)
		_, err = f.SignInByLink(t.Context(), home, late)
		wantCode(t, err, "link_expired")

		both, token := []*fixture{f, f.second(t)}, link()
		counts := atOnce(6, func(i int) error {
			_, err := both[i%2].SignInByLink(t.Context(), home, token)
			return err
		})
		if counts[""] != 1 || counts["link_used"] != 5 {
			t.Errorf("many at once: %v", counts)
		}
		if lines, err := f.Audit(t.Context(), operator, AuditFilter{Action: "user.sign_in", Actor: email}); err != nil || len(lines) != 2 || lines[0].Detail != "by a one-time link" {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}
