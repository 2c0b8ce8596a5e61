package people

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/limit"
)

// How many attempts may fail within limitWindow. One address can't use up what
// an e-mail may fail. What several can use up does not keep out a browser that has
// signed in before: it is counted by itself.
const (
	limitWindow     = 15 * time.Minute
	addressFailures = 10
	emailFailures   = 30
	codeFailures    = 5  // of a user's second step
	againFailures   = 10 // of a signed-in user's password
	knownFailures   = 10 // of a known browser's password
	inviteFailures  = 10 // of an invitation
)

// limits counts failed attempts.
type limits struct{ address, email, code, again, known, knownCode, invite *limit.Texts }

// newLimits names what is counted by the key file; before it is known, in a way that nobody else can.
func newLimits(box func() *keyfile.Box, now func() time.Time) limits {
	salt := rand.Text()
	name := func(text string) limit.Name {
		if box := box(); box != nil {
			return box.Name(text)
		}
		return limit.PlainName(salt + text)
	}
	of := func(kind string, most int) *limit.Texts { return limit.NewTexts(kind, most, limitWindow, name, now) }
	return limits{
		address: of("sign-in-address", addressFailures), email: of("sign-in-email", emailFailures), code: of("sign-in-code", codeFailures),
		again: of("password", againFailures), known: of("known-browser", knownFailures), knownCode: of("known-browser-code", codeFailures),
		invite: of("invitation", inviteFailures),
	}
}

// Limits lists the counts of failed attempts, which several servers on one database can exchange.
func (p *People) Limits() []*limit.Texts {
	l := p.limits
	return []*limit.Texts{l.address, l.email, l.code, l.again, l.known, l.knownCode, l.invite}
}

// attempt is one try. It has a place under the limits until it has ended. That keeps many at once within them.
type attempt struct{ ends []func(failed bool) }

// ended counts the attempt as failed, or not.
func (a *attempt) ended(failed bool) {
	for _, end := range a.ends {
		end(failed)
	}
}

// try begins one attempt under a key of each limiter, or refuses it (rate_limited).
func try(keys ...limitKey) (*attempt, error) {
	a := &attempt{}
	for _, k := range keys {
		end, wait := k.by.Hold(k.key)
		if wait > 0 {
			a.ended(false)
			return nil, tooMany(wait)
		}
		a.ends = append(a.ends, end)
	}
	return a, nil
}

type limitKey struct {
	by  *limit.Texts
	key string
}

func tooMany(wait time.Duration) error {
	minutes := int((wait + time.Minute - 1) / time.Minute)
	in := fmt.Sprintf("%d minutes", minutes)
	if minutes == 1 {
		in = "a minute"
	}
	return fault.Limited(countersign.CodeRateLimited, "Too many attempts failed; try again in "+in, wait)
}

// limitAddress is the key of a client: its address, or the /64 of IPv6, which
// one client has to itself.
func limitAddress(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if prefix, err := a.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return addressText(a)
}
