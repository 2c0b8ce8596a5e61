package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// codeLimit is how many requests a purchase code has an hour, good or not, for each thing that is asked of it.
const codeLimit = 60

// Guard holds back those who guess credentials: it counts the failures of each client in a minute, and the requests for
// each purchase code in an hour. The faces of one service share a guard, so that none is a way around the others. It is
// safe for concurrent use.
type Guard struct {
	failures  *Limiter
	codes     *Window[codeUse]
	codeLimit int // 0 means no limit
}

// codeUse is what a purchase code is counted for.
type codeUse struct{ what, code string }

// NewGuard allows each client failLimit failures a minute; 0 switches the guard off, for purchase codes too. now is its
// clock, and nil means time.Now.
func NewGuard(failLimit int, now func() time.Time) *Guard {
	g := &Guard{failures: NewLimiter(failLimit, now), codes: NewLongWindow[codeUse](time.Hour, now)}
	if failLimit > 0 {
		g.codeLimit = codeLimit
	}
	return g
}

// Failed counts a failed authentication or validation, an error of KindUnauthorized or KindNotFound, and returns the
// error to answer with: err, or the refusal of a client that has had too many. Other errors are not counted.
func (g *Guard) Failed(w http.ResponseWriter, err error) error {
	ours, ok := errors.AsType[*countersign.Error](err)
	if !ok || (ours.Kind != countersign.KindUnauthorized && ours.Kind != countersign.KindNotFound) {
		return err
	}
	addr := ClientAddr(w)
	if !g.failures.Allowed(addr) {
		return g.failures.Refuse(w, addr)
	}
	g.failures.Fail(addr)
	return err
}

// TakeCode counts a request for a purchase code, also for one that nobody sold: the answer must not tell. what says what
// is asked of it, for each thing is counted by itself. The error is the refusal (429) of a code that was asked too often.
func (g *Guard) TakeCode(w http.ResponseWriter, what, code string) error {
	const longest = 2 * 128
	use := codeUse{what, strings.ToLower(strings.TrimSpace(code))}
	if use.code == "" || len(code) > longest { // no code, which belongs to nobody
		return nil
	}
	if g.codes.Take(use, g.codeLimit) {
		return nil
	}
	return Refuse(w, countersign.CodeRateLimited, g.codeLimit, 0, g.codes.Retry(use))
}
