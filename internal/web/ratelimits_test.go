package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/limit"
)

var (
	errUnknownCode = &countersign.Error{Kind: countersign.KindNotFound, Code: countersign.CodePurchaseNotFound}
	errNoneLeft    = &countersign.Error{Kind: countersign.KindConflict, Code: countersign.CodeLimitReached}
)

func codeOf(err error) string {
	if apiErr, ok := errors.AsType[*countersign.Error](err); ok {
		return apiErr.Code
	}
	return ""
}

// What a call finds is given away within the limit alone, also when others of the same
// client use the limit up while it looks.
func TestACallIsAnsweredWithinTheLimit(t *testing.T) {
	const before, meanwhile = "before", "meanwhile"
	for _, c := range []struct {
		rule   string
		passed string // when the limit is passed
		secret bool
		found  func(ownOnly bool) error
		want   string
		looked int
	}{
		{"within it a valid code succeeds", "", false, func(bool) error { return nil }, "", 1},
		{"and an unknown one fails", "", false, func(bool) error { return errUnknownCode }, "purchase_not_found", 1},
		{"past it nothing is looked up", before, false, func(bool) error { return nil }, "rate_limited", 0},
		{"a secret key finds its own past it", before, true, func(bool) error { return nil }, "", 1},
		{"and not those of others", before, true, func(own bool) error {
			if own {
				return errUnknownCode
			}
			return nil
		}, "rate_limited", 1},
		{"a success that came too late is kept back", meanwhile, false, func(bool) error { return nil }, "rate_limited", 1},
		{"so is a refusal that only a valid code gets", meanwhile, false, func(bool) error { return errNoneLeft }, "rate_limited", 1},
		{"a failure that came too late, too", meanwhile, false, func(bool) error { return errUnknownCode }, "rate_limited", 1},
		{"a secret key asks once more, for its own", meanwhile, true, func(bool) error { return nil }, "", 2},
		{"which others' are not", meanwhile, true, func(own bool) error {
			if own {
				return errUnknownCode
			}
			return nil
		}, "rate_limited", 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			limits := limit.NewGuesses(limit.Options{Failures: 3, Now: newClock().Now})
			g, looked := NewRateLimits(limits), 0
			w := httptest.NewRecorder()
			pass := func() {
				for limits.Fail(ClientAddr(w)) {
				}
			}
			if c.passed == before {
				pass()
			}
			err := g.Call(w, c.secret, func(ownOnly bool) error {
				if looked++; c.passed == meanwhile {
					pass()
				}
				return c.found(ownOnly)
			})
			if codeOf(err) != c.want || looked != c.looked {
				t.Errorf("error %v after %d lookups, want %q after %d", err, looked, c.want, c.looked)
			}
			if limited := w.Header()["Ratelimit-Limit"] != nil; limited != (c.want == "rate_limited") {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestTheLastFailureWithinTheLimitIsAnswered(t *testing.T) {
	g := NewRateLimits(limit.NewGuesses(limit.Options{Failures: 3, Now: newClock().Now}))
	for i := range 5 {
		err := g.Call(httptest.NewRecorder(), false, func(bool) error { return errUnknownCode })
		if want := map[bool]string{true: "purchase_not_found", false: "rate_limited"}[i < 3]; codeOf(err) != want {
			t.Errorf("failure %d: %v, want %s", i+1, err, want)
		}
	}
	var w http.ResponseWriter = httptest.NewRecorder()
	if g.Admit(w) == nil || g.Failed(w, errNoneLeft) != errNoneLeft {
		t.Error("past the limit a client is admitted, or what is no failure is refused")
	}
}
