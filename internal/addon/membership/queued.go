package membership

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// unknownTime is how long a token that the store does not know may still be a purchase that was just made, and
	// announcedTime that of one about which the store has sent a notification (1.2).
	unknownTime   = 10 * time.Minute
	announcedTime = 24 * time.Hour
	// unknownWait is how long such a token waits at least until it is asked for again.
	unknownWait = 15 * time.Second
	// maxUnknown is how many such tokens of one user wait, and are read in a minute: made-up ones must not use up the calls
	// to the store. maxWaiting is how many of all kinds wait.
	maxUnknown = 5
	maxWaiting = maxRestore
	// outageWait is how long a verification waits while the store does not answer, unless its probe finds that it does.
	outageWait = 10 * time.Minute
)

// errWithdrawn means that a queued verification was removed: it has ended, or its user was erased or merged.
var errWithdrawn = errors.New("membership: the queued verification was withdrawn")

// waits reports whether a verification that failed is queued: the store does not answer, refuses the service account, whose
// permissions may be new, or does not know a token that may be new.
func waits(failed error) bool {
	return fault.HasCode(failed, "store_unavailable") || fault.HasCode(failed, "store_not_authorised") || isUnknown(failed)
}

// isUnknown reports whether the store does not know a token.
func isUnknown(failed error) bool {
	known, ok := errors.AsType[*play.Error](failed)
	return ok && known.Reason == play.TokenNotFound
}

// queueClaim has a verification repeated later (1.3). Until then the user's purchase is pending.
func (s *Service) queueClaim(ctx context.Context, token string, selling iap.Selling, req request, failed error) (Outcome, error) {
	q := addondb.QueuedVerification{
		UserID: req.user, TokenDigest: digestOf(s.box(), token), Sealed: s.box().Seal(purposeQueued, []byte(token)), Product: req.product,
		Restoring: req.restoring, Simulated: selling.Simulated, Application: selling.Application, Unknown: isUnknown(failed), QueuedAt: s.timestamp(),
	}
	err := s.tx(ctx, func(tx *txn) error {
		if err := s.mayQueue(ctx, tx.DB, q); err != nil {
			return err
		}
		id, err := tx.PutQueuedVerification(ctx, q)
		if err != nil {
			return err
		}
		wait := queuedWait(failed)
		if isOutage(failed) {
			wait = outageWait
		}
		if err := s.put(ctx, tx.DB, verifyTask(id, s.now().Add(wait))); err != nil {
			return err
		}
		if err := s.recompute(ctx, tx, change{environment: environmentOf(q)}, req.user); err != nil {
			return err
		}
		return s.access.SameKeyFile(ctx, tx.DB.Queries)
	})
	if err == nil && isOutage(failed) {
		err = s.putProbe(ctx, failed)
	}
	if err != nil {
		return Outcome{}, err
	}
	return s.queued(ctx, req.user, q.Unknown)
}

// queued is the outcome of a verification that waits.
func (s *Service) queued(ctx context.Context, user string, unknown bool) (Outcome, error) {
	m, err := membershipOf(ctx, s.db, user)
	return Outcome{Result: ResultQueued, Membership: printMembership(m), Pending: true, unknown: unknown}, err
}

// manyWaiting is not final: the token may be real.
func manyWaiting(retry time.Duration) error {
	return fault.Limited(countersign.CodeRateLimited, "Too many purchases of this user wait for the store", retry)
}

// hasSpent reports whether a user has presented as many tokens that the store does not know as are read in a minute.
func (s *Service) hasSpent(user string) bool { return !s.unknowns.Allows(user, maxUnknown) }

// mayAsk reports whether the store is asked about a token for a user who has spent the calls for those that it does not
// know. About one that waits already, its task asks. Others that nobody has heard of are refused.
func (s *Service) mayAsk(ctx context.Context, token string, req request) (bool, error) {
	if !req.spent {
		return true, nil
	}
	digest := digestOf(s.box(), token)
	if _, err := s.db.PurchaseByToken(ctx, platform, digest); !errors.Is(err, sqldb.ErrNotFound) {
		return true, err
	}
	if announced, err := s.db.HasMessages(ctx, digest); err != nil || announced {
		return true, err
	}
	list, err := s.db.QueuedVerificationsOf(ctx, req.user)
	if err != nil || slices.ContainsFunc(list, func(q addondb.QueuedVerification) bool { return bytes.Equal(q.TokenDigest, digest) }) {
		return false, err
	}
	return false, manyWaiting(s.unknowns.Retry(req.user))
}

// mayQueue refuses more tokens than one user may have waiting.
func (s *Service) mayQueue(ctx context.Context, tx *addondb.DB, q addondb.QueuedVerification) error {
	if announced, err := tx.HasMessages(ctx, q.TokenDigest); err != nil || announced {
		return err
	}
	list, err := tx.QueuedVerificationsOf(ctx, q.UserID)
	waiting, unknown := 0, 0
	for _, other := range list {
		if bytes.Equal(other.TokenDigest, q.TokenDigest) {
			continue
		}
		waiting++
		if other.Unknown {
			unknown++
		}
	}
	if err == nil && (q.Unknown && unknown >= maxUnknown || waiting >= maxWaiting) {
		return manyWaiting(unknownTime)
	}
	return err
}

// queuedWait is how long after a failure a verification is repeated first.
func queuedWait(failed error) time.Duration {
	const least = 10 * time.Second
	if apiErr := fault.Of(failed); apiErr != nil {
		return max(least, apiErr.RetryAfter)
	}
	return least
}

func environmentOf(q addondb.QueuedVerification) entitle.Environment {
	if q.Simulated {
		return entitle.Simulated
	}
	return entitle.Production
}

// queuedRef is the payload of the task of a queued verification.
type queuedRef struct {
	ID int64 `json:"id"`
}

func verifyTask(id int64, due time.Time) jobs.Task {
	return jobs.Task{Kind: KindVerify, Key: strconv.FormatInt(id, 10), Due: due, Payload: queuedRef{ID: id}}
}

// doVerify repeats a queued verification.
func (s *Service) doVerify(ctx context.Context, payload []byte) (again time.Time, err error) {
	var ref queuedRef
	if err := json.Unmarshal(payload, &ref); err != nil {
		return time.Time{}, fmt.Errorf("membership: the payload of a task: %w", err)
	}
	q, err := s.db.QueuedVerification(ctx, ref.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	token, err := s.box().Open(purposeQueued, q.Sealed)
	if err != nil { // the key file was lost; the app verifies again
		if err = s.abandon(ctx, q); errors.Is(err, errWithdrawn) {
			err = nil
		}
		return time.Time{}, err
	}
	again, err = s.verifyQueued(ctx, q, string(token))
	if errors.Is(err, errWithdrawn) { // it may be another user's now
		return s.now(), nil
	}
	return again, err
}

// verifyQueued returns when a verification is repeated, zero for one that has ended.
func (s *Service) verifyQueued(ctx context.Context, q addondb.QueuedVerification, token string) (again time.Time, err error) {
	var done applied
	store, selling, err := s.openToken(ctx, q.TokenDigest, origin{q.Simulated, q.Application})
	if err == nil {
		done, err = s.readAndApply(ctx, store, selling, token, request{cause: causeVerify, user: q.UserID, product: q.Product, restoring: q.Restoring, repeated: true})
	}
	switch {
	case err == nil:
		s.acknowledgeNow(ctx, store, selling, done.purchase)
		return time.Time{}, nil
	case errors.Is(err, errWithdrawn):
		return time.Time{}, err
	case isUnknown(err):
		return s.waitForStore(ctx, q, token)
	case fault.HasCode(err, "store_unavailable"):
		return s.now().Add(outageWait), s.putProbe(ctx, err)
	}
	if err := s.taskError(err); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.abandon(ctx, q)
}

// waitForStore returns when a token that the store does not know is asked for again, zero when it was made up.
func (s *Service) waitForStore(ctx context.Context, q addondb.QueuedVerification, token string) (time.Time, error) {
	announced, err := s.db.HasMessages(ctx, q.TokenDigest)
	if err != nil {
		return time.Time{}, err
	}
	limit := unknownTime
	if announced {
		limit = announcedTime
	}
	const most = time.Hour
	if age := s.now().Sub(q.QueuedAt.Time); age < limit {
		if err := s.db.SetQueuedUnknown(ctx, q.ID); err != nil {
			return time.Time{}, err
		}
		return s.now().Add(min(max(age, unknownWait), most, limit-age)), nil
	}
	s.failures.Take(s.failureKey(token), 1)
	return time.Time{}, s.abandon(ctx, q)
}

// abandon ends a verification that the store has refused, or whose token is lost. The error is errWithdrawn for one that is
// not there any more.
func (s *Service) abandon(ctx context.Context, q addondb.QueuedVerification) error {
	return s.tx(ctx, func(tx *txn) error {
		ended, err := tx.EndQueuedVerification(ctx, q.UserID, q.TokenDigest)
		if err != nil {
			return err
		}
		if !ended {
			return errWithdrawn
		}
		if err := s.recompute(ctx, tx, change{environment: environmentOf(q)}, q.UserID); err != nil {
			return err
		}
		return s.access.SameKeyFile(ctx, tx.DB.Queries)
	})
}

// endQueued ends the verification that waits for an answer of the store, in the transaction that writes that. A
// repeated one that is not there any more is withdrawn.
func (s *Service) endQueued(ctx context.Context, tx *txn, r *reading, req request) (ended bool, err error) {
	if req.user == "" {
		return false, nil
	}
	ended, err = tx.EndQueuedVerification(ctx, req.user, r.digest)
	if err == nil && req.repeated && !ended {
		return false, errWithdrawn
	}
	return ended, err
}

// LostQueued counts the queued verifications whose tokens an old key file, nil when it is lost, can't open any more.
func LostQueued(ctx context.Context, db *addondb.DB, old *keyfile.Box) (lost int, err error) {
	err = eachQueued(ctx, db, func(q addondb.QueuedVerification) error {
		if keyfile.Reseal(old, old, purposeQueued, q.Sealed) == nil {
			lost++
		}
		return nil
	})
	return lost, err
}

// resealQueued brings a queued verification from an old key file, nil when it is lost, to a new one. One that can't be
// opened stays for its task, which ends it.
func resealQueued(ctx context.Context, tx *addondb.DB, q addondb.QueuedVerification, old, fresh *keyfile.Box) error {
	if old == nil {
		return nil
	}
	token, err := old.Open(purposeQueued, q.Sealed)
	if err != nil {
		return nil
	}
	return tx.SetQueuedKey(ctx, q.ID, digestOf(fresh, string(token)), fresh.Seal(purposeQueued, token))
}

func eachQueued(ctx context.Context, db *addondb.DB, do func(addondb.QueuedVerification) error) error {
	for after := int64(0); ; {
		list, err := db.QueuedVerifications(ctx, after, batch)
		if err != nil {
			return err
		}
		for _, q := range list {
			if err := do(q); err != nil {
				return err
			}
			after = q.ID
		}
		if len(list) < batch {
			return nil
		}
	}
}
