package web

import (
	"net/http"
	"net/netip"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/limit"
)

// RateLimits answers requests of clients past the limits of a [limit.Guesses]. The front ends of one service share one.
type RateLimits struct{ guesses *limit.Guesses }

// NewRateLimits answers for the limits of guesses.
func NewRateLimits(guesses *limit.Guesses) *RateLimits { return &RateLimits{guesses} }

// Admit returns the refusal (429) of a client that has had too many failures, and nil for any other one. Call it before
// what was sent is looked up, and once more before the response says what was found: others of the same client may have
// failed meanwhile.
func (l *RateLimits) Admit(w http.ResponseWriter) error {
	addr := ClientAddr(w)
	if l.guesses.Allowed(addr) {
		return nil
	}
	return l.refuse(w, addr)
}

func (l *RateLimits) refuse(w http.ResponseWriter, addr netip.Addr) error {
	return RefuseLimited(w, l.guesses.Refusal(addr))
}

// Failed counts a failed authentication or validation, an error of KindUnauthorized or KindNotFound, and returns the
// error to answer with: err, or the refusal of a client that has had too many. Other errors are not counted.
func (l *RateLimits) Failed(w http.ResponseWriter, err error) error {
	addr := ClientAddr(w)
	if !isFailure(err) || l.guesses.Fail(addr) {
		return err
	}
	return l.refuse(w, addr)
}

func isFailure(err error) bool {
	apiErr := fault.Of(err)
	return apiErr != nil && (apiErr.Kind == countersign.KindUnauthorized || apiErr.Kind == countersign.KindNotFound)
}

// Call runs do for a client whose credential is a purchase code. Over the limit on failures, a client without a secret
// key is refused before any lookup. With one, do must find only the purchases of the key's workspace. Failures are
// counted. If concurrent requests used up the limit meanwhile, the result is withheld and do runs again within the
// workspace, so it must be safe to repeat.
func (l *RateLimits) Call(w http.ResponseWriter, secretKey bool, do func(ownOnly bool) error) error {
	for addr := ClientAddr(w); ; {
		ownOnly := !l.guesses.Allowed(addr)
		if ownOnly && !secretKey {
			return l.refuse(w, addr)
		}
		err := do(ownOnly)
		if isFailure(err) {
			return l.Failed(w, err)
		}
		if ownOnly || l.guesses.Allowed(addr) {
			return err
		}
	}
}

// TakeCode counts a request for a purchase code, as [limit.Guesses.TakeCode] says. The error is the refusal (429) of a
// code that was asked too often.
func (l *RateLimits) TakeCode(w http.ResponseWriter, what, code string) error {
	if ok, refused := l.guesses.TakeCode(what, code); !ok {
		return RefuseLimited(w, refused)
	}
	return nil
}

// TakeCheck is TakeCode for the check of a license by one client.
func (l *RateLimits) TakeCheck(w http.ResponseWriter, code, id string) error {
	if ok, refused := l.guesses.TakeCheck(ClientAddr(w), code, id); !ok {
		return RefuseLimited(w, refused)
	}
	return nil
}
