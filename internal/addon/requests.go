package addon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Address is a public address that apps read.
type Address int

// The public addresses.
const (
	AddressSettings Address = iota // GET /api-addons/app/settings
	AddressIAP                     // GET /api-addons/iap/config
	addresses                      // how many there are
)

// column names the addresses in the database.
func (a Address) column() string { return [addresses]string{"settings", "iap"}[a] }

// requestsKept is how long the hours' counts are kept, requestsShown how far back
// they are added up.
const (
	requestsKept  = 48 * time.Hour
	requestsShown = 24 * time.Hour
)

// requests counts what apps ask for until it is written, off the requests' path.
type requests [addresses]atomic.Int64

// Requests is how often apps were answered in the last 24 hours: 200 and 304.
type Requests struct{ Settings, IAP int64 }

// Total is the sum.
func (r Requests) Total() int64 { return r.Settings + r.IAP }

// NoteRequest counts one answer to an app, for [Addon.Requests].
func (a *Addon) NoteRequest(of Address) { a.requests[of].Add(1) }

// Requests counts the answers to apps in the hours of the last 24, the running
// one among them. Those of this process count at once, those of others once they
// have written them.
func (a *Addon) Requests(ctx context.Context, actor people.Actor) (Requests, error) {
	if err := a.access.May(actor, access.ManageSite); err != nil {
		return Requests{}, err
	}
	since := sqldb.Time{Time: a.hour().Add(time.Hour - requestsShown)}
	var counts [addresses]int64
	for of := range addresses {
		written, err := a.db.Requests(ctx, since, of.column())
		if err != nil {
			return Requests{}, err
		}
		counts[of] = written + a.requests[of].Load()
	}
	return Requests{Settings: counts[AddressSettings], IAP: counts[AddressIAP]}, nil
}

// hour is the beginning of the running one.
func (a *Addon) hour() time.Time { return a.now().UTC().Truncate(time.Hour) }

// writeRequests adds what was counted since the last time to the running hour.
// What can't be written now is kept for the next time.
func (a *Addon) writeRequests(ctx context.Context) {
	if a.access.Ready() != nil {
		return // the tables may be older than the counts
	}
	var taken [addresses]int64
	for of := range addresses {
		taken[of] = a.requests[of].Swap(0)
	}
	if taken == [addresses]int64{} {
		return
	}
	err := a.db.Tx(ctx, func(tx *addondb.DB) error {
		// In the same order by every server, so that two don't wait for each other.
		for of := range addresses {
			if taken[of] == 0 {
				continue
			}
			if err := tx.AddRequests(ctx, sqldb.Time{Time: a.hour()}, of.column(), taken[of]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	again := !fault.HasCode(err, countersign.CodeOutcomeUnknown) // else the commit may have happened
	for of := range addresses {
		if again {
			a.requests[of].Add(taken[of])
		} else {
			a.requestsUnconfirmed.Add(taken[of])
		}
	}
	a.log.Warn("the number of requests from apps could not be written", "cause", err, "again", again)
}

// forgetRequests drops what was counted while the tables were too old to keep it:
// nobody could say later which hours it belongs to.
func (a *Addon) forgetRequests() {
	for of := range addresses {
		a.requests[of].Store(0)
	}
}

// pruneRequests forgets old hours.
func (a *Addon) pruneRequests(ctx context.Context) error {
	return a.db.PruneRequests(ctx, sqldb.Time{Time: a.hour().Add(-requestsKept)})
}
