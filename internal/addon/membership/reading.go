package membership

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// request is why a purchase is read, and for whom.
type request struct {
	// cause is what the history says.
	cause string
	// user is the caller, "" for background work and the site.
	user string
	// product is what the caller expects, "" for anything.
	product   string
	restoring bool
	// oneTime reports that the store says that it is a one-time product.
	oneTime bool
	// queued leaves the store to a task, because it does not answer now. repeated is of such a task.
	queued, repeated bool
	// spent reports that the user has presented too many tokens that the store does not know.
	spent bool
	// vouched reports that the site itself names the user as the owner.
	vouched bool
	// dryRun writes nothing.
	dryRun bool
}

// The causes in the history of purchases. [addondb.CauseVoided] is another.
const (
	causeVerify       = "verify"
	causeRestore      = "restore"
	causeNotification = "notification"
	causeSchedule     = "schedule"
	causeRefresh      = "refresh"
	causeSuperseded   = "superseded"
	causeTransfer     = "transfer"
	causeMerge        = "merge"
	causeErase        = "erase"
	causeAcknowledged = "acknowledged"
	causeUnverified   = "unverified"
	causeGone         = "gone"
	causeImport       = "import"
)

// reading is an answer of the store about a token, and what was known when it was asked.
type reading struct {
	token  string
	digest []byte
	known  addondb.Purchase // zero: nothing
	sub    play.Subscription
	// before is the tokens of its predecessors that are known, the last one first, and chain their digests. walked
	// reports that the store was asked for them now, and retires that the purchase takes their place now.
	before      []string
	chain       [][]byte
	walked      bool
	retires     bool
	selling     iap.Selling
	environment entitle.Environment
	at          time.Time // on the store's clock
}

// maxReads is how often a purchase is read again because somebody else wrote a change
// between the store's answer and ours.
const maxReads = 5

// errStale means that the answer may be older than what was written meanwhile.
var errStale = errors.New("membership: the purchase changed while the store was asked")

// readAndApply asks the store about a token and writes the answer. A change that was
// written meanwhile may come from a later answer, so the store is asked again.
func (s *Service) readAndApply(ctx context.Context, store Store, selling iap.Selling, token string, req request) (done applied, err error) {
	for range maxReads {
		r, err := s.read(ctx, store, selling, token, req)
		if err != nil {
			return applied{}, s.readFailed(ctx, r, req, err)
		}
		err = s.tx(ctx, func(tx *txn) (err error) {
			if err := s.stillSimulated(ctx, tx, r); err != nil {
				return err
			}
			ended, err := s.endQueued(ctx, tx, r, req)
			if err != nil {
				return err
			}
			if done, err = s.apply(ctx, tx, r, req); err == nil && ended {
				err = s.recompute(ctx, tx, change{environment: r.environment}, req.user)
			}
			if err == nil && req.dryRun {
				err = errDryRun
			}
			return err
		})
		switch {
		case errors.Is(err, errDryRun):
			return done, nil
		case err != nil && req.dryRun && !errors.Is(err, errStale):
			return applied{}, err
		case err == nil && done.refused != nil:
			s.thefts.Take(theftOf(r, req.user), 1)
			return done, done.refused
		case err == nil:
			return done, nil
		case errors.Is(err, errNotMapped) && r.sub.OneTime && req.user == "": // the app may sell others without the site
			return applied{}, err
		case errors.Is(err, errNotMapped):
			return applied{}, errors.Join(err, s.noteNotMapped(ctx, r.sub.Items[0].ProductID))
		case !errors.Is(err, errStale):
			return applied{}, err
		}
	}
	return applied{}, fault.Conflict("conflict", "The purchase is being changed. Try again")
}

// errDryRun takes back what a dry run has written.
var errDryRun = errors.New("membership: a dry run")

// read asks the store about a token, only once if the caller asks again later.
func (s *Service) read(ctx context.Context, store Store, selling iap.Selling, token string, req request) (*reading, error) {
	r := &reading{token: token, digest: digestOf(s.box(), token), selling: selling}
	known, err := s.db.PurchaseByToken(ctx, platform, r.digest)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return nil, err
	}
	r.known = known
	if req.restoring || req.repeated {
		r.sub, err = s.askOnce(ctx, s.readerOf(store, r, req), token)
	} else {
		r.sub, err = s.ask(ctx, s.readerOf(store, r, req), token)
	}
	if !req.dryRun {
		if note := s.noteCall(ctx, callRead, selling, err); note != nil {
			return nil, note
		}
	}
	if err != nil {
		return r, refusal(err)
	}
	if r.at, err = store.Now(ctx); err != nil {
		return r, refusal(err)
	}
	r.environment = entitle.EnvironmentOf(r.sub, selling.Simulated)
	r.sub.LinkedToken = linkedToken(r.sub)
	if err := s.remember(r); err != nil {
		return nil, err
	}
	return r, s.walk(ctx, store, r)
}

// remember adds to an answer what the store has forgotten since an earlier one (1.1).
func (s *Service) remember(r *reading) error {
	if r.known.ID == 0 || len(r.known.Sealed) == 0 {
		return nil
	}
	stored, err := openTokens(s.box(), r.known)
	if err != nil {
		return err
	}
	if r.sub.LinkedToken == "" {
		r.sub.LinkedToken = stored.Linked
	}
	if r.sub.OutOfApp == nil {
		r.sub.OutOfApp = stored.OutOfApp
	}
	r.before = stored.Before
	return nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil
	}
	return err
}

// readFailed returns the error of a read. A purchase that the store has forgotten has ended.
func (s *Service) readFailed(ctx context.Context, r *reading, req request, failed error) error {
	if r == nil || r.known.ID == 0 || req.dryRun || !fault.HasKind(failed, countersign.KindGone) {
		return failed
	}
	return errors.Join(failed, s.tx(ctx, func(tx *txn) error {
		p, err := tx.LockPurchase(ctx, r.known.Name)
		if err != nil || p.SupersededBy != 0 || !p.Access && (p.Status == string(entitle.Expired) || p.Status == string(entitle.Revoked)) {
			return err
		}
		return s.end(ctx, tx, p, causeGone)
	}))
}
