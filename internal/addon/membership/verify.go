package membership

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

// Limits of what callers send (6.4).
const (
	maxToken   = 2 << 10 // bytes
	maxRestore = 20      // tokens
)

// Outcome is the answer to a verification (6.4).
type Outcome struct {
	// Result is one of the Result constants.
	Result string
	// Purchase is nil when the store did not answer, and while the site decides about the owner.
	Purchase   *countersign.IAPPurchase
	Membership countersign.IAPMembership
	// Pending reports that the payment is pending, that the store did not answer, or that the site decides about the
	// owner: the app asks for the membership later (202).
	Pending bool
	// unknown reports that it is queued because the store does not know the token.
	unknown bool
}

// Verify reads a purchase token from the store and activates what was bought for a user, who
// is proven by a credential and never named by the app. product is what the app expects, ""
// for anything. Its errors have the codes of 6.4: invalid_request, iap_disabled,
// test_purchase_not_allowed, owned_by_other_user, conflict, purchase_gone, invalid_token,
// product_mismatch, product_not_mapped, account_binding_required, not_a_subscription,
// repeated_failure, rate_limited and not_configured. While the store does not answer, refuses the service account or does not know
// the token, or too many verifications wait for its answers, the token is queued and the outcome is pending.
func (s *Service) Verify(ctx context.Context, user, token, product string) (Outcome, error) {
	return s.claim(ctx, token, request{cause: causeVerify, user: user, product: product, spent: s.hasSpent(user)})
}

func (s *Service) claim(ctx context.Context, token string, req request) (Outcome, error) {
	if err := checkRequest(token, req.user); err != nil {
		return Outcome{}, err
	}
	key := s.failureKey(token)
	if !s.failures.Allows(key, 1) {
		return Outcome{}, fault.Limited("repeated_failure", "The store refused this purchase a short time ago", s.failures.Retry(key))
	}
	flight := strings.Join([]string{key, req.user, req.product, req.cause, fmt.Sprint(req.queued)}, "\x00")
	done, err, _ := s.flights.Do(flight, func() (any, error) { return s.claimOnce(context.WithoutCancel(ctx), token, req) })
	if fault.HasCode(err, "invalid_token") {
		s.failures.Take(key, 1)
	}
	if err != nil {
		return Outcome{}, err
	}
	return done.(Outcome), ctx.Err()
}

// failureKey is the key of a token in failures.
func (s *Service) failureKey(token string) string {
	return hex.EncodeToString(digestOf(s.box(), token))
}

const (
	// claimTimeout is how long a verification, which several callers may wait for, takes before it
	// is queued: many HTTP clients end a call after ten seconds.
	claimTimeout = 8 * time.Second
	// placeTimeout is how much of it a verification waits for a place that other users have.
	placeTimeout = 2 * time.Second
	// maxUnderWay is how many verifications may wait for the store at once. Without a bound they
	// would fill the memory while the store hangs.
	maxUnderWay = 256
	// maxUserUnderWay is how many of them may be of one user, and how many tokens a restore reads at once.
	maxUserUnderWay = 4
)

// claimOnce asks the store within a time. What is queued afterwards is not bound by it.
func (s *Service) claimOnce(ctx context.Context, token string, req request) (Outcome, error) {
	asking, cancel := context.WithTimeout(ctx, s.claimTimeout)
	defer cancel()
	store, selling, err := s.openForApp(ctx, token)
	if err != nil {
		return Outcome{}, err
	}
	may, err := s.mayAsk(ctx, token, req)
	switch {
	case err != nil:
		return Outcome{}, err
	case !may:
		return s.queued(ctx, req.user, true)
	case req.queued:
		return s.queueClaim(ctx, token, selling, req, errOthersWait)
	}
	leave := s.places.take(asking, req.user, s.placeTimeout)
	if leave == nil { // the store does not answer those who have the places
		return s.queueClaim(ctx, token, selling, req, errOthersWait)
	}
	defer leave()
	done, err := s.readAndApply(asking, store, selling, token, req)
	if isUnknown(err) && !selling.Simulated {
		s.unknowns.Take(req.user, maxUnknown)
	}
	switch {
	case selling.Simulated && fault.HasCode(err, "invalid_token"):
		return Outcome{}, errTestMode
	case waits(err) || err != nil && asking.Err() != nil:
		return s.queueClaim(ctx, token, selling, req, err)
	case err != nil:
		return Outcome{}, err
	}
	done.purchase = s.acknowledgeNow(asking, store, selling, done.purchase)
	return s.outcome(ctx, req.user, done)
}

// errTestMode is the answer to a token that the simulated store did not hand out: it may be of a real buyer.
var errTestMode = fault.WithRetry(fault.Unavailable("store_unavailable", "The site is in test mode, in which purchases of the real store are not read"), time.Minute)

// checkRequest checks what a caller sends.
func checkRequest(token, user string) error {
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case token == "" || len(token) > maxToken || strings.ContainsFunc(token, unprintable):
		return fault.Invalid("invalid_request", "The purchase token is missing or malformed")
	}
	return checkUser(user)
}

// checkUser checks the id of a user of the site.
func checkUser(user string) error {
	if problem := input.UserID(user); problem != "" {
		return fault.Invalid("invalid_request", problem)
	}
	return nil
}

// outcome reads what is stored.
func (s *Service) outcome(ctx context.Context, user string, done applied) (o Outcome, err error) {
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		m, err := membershipOf(ctx, tx, user)
		if err != nil {
			return err
		}
		if done.result == ResultQueued {
			o = Outcome{Result: ResultQueued, Membership: printMembership(m), Pending: true}
			return nil
		}
		printed, err := s.printPurchase(ctx, tx, done.purchase)
		o = Outcome{Result: done.result, Purchase: &printed, Membership: printMembership(m), Pending: done.purchase.Status == string(entitle.Pending)}
		return err
	})
	return o, err
}

// RestoredPurchase is what became of one token of a restore. Outcome or Err is set.
type RestoredPurchase struct {
	// TokenSHA256 is the SHA-256 of the token in hex, by which the app recognizes it.
	TokenSHA256 string
	Outcome     Outcome
	Err         error
}

// Restore is Verify for up to 20 tokens, which the app found on the device. Some may fail.
// The user asked for it, so that the policy transfer applies (1.5). After the first, some are
// read at once. Once the store does not answer, the rest is queued without asking it, so that an
// outage takes no longer than for one.
func (s *Service) Restore(ctx context.Context, user string, list []string) (results []RestoredPurchase, m countersign.IAPMembership, err error) {
	if len(list) == 0 || len(list) > maxRestore {
		return nil, m, fault.Invalid("invalid_request", "Send 1 to 20 purchase tokens")
	}
	if err := checkUser(user); err != nil {
		return nil, m, err
	}
	results = make([]RestoredPurchase, len(list))
	var down atomic.Bool
	spent := s.hasSpent(user)
	restore := func(i int) error {
		done := RestoredPurchase{TokenSHA256: sha256Hex(list[i])}
		done.Outcome, done.Err = s.claim(ctx, list[i], request{cause: causeRestore, user: user, restoring: true, spent: spent, queued: down.Load()})
		if done.Outcome.Result == ResultQueued && !done.Outcome.unknown {
			down.Store(true)
		}
		results[i] = done
		return ctx.Err()
	}
	if err := restore(0); err != nil { // alone: an outage is noticed once
		return nil, m, err
	}
	var work errgroup.Group
	work.SetLimit(maxUserUnderWay)
	for i := 1; i < len(list); i++ {
		work.Go(func() error { return group.Contain(s.log, "restore of a purchase", func() error { return restore(i) }) })
	}
	if err := work.Wait(); err != nil {
		return nil, m, err
	}
	row, err := membershipOf(ctx, s.db, user)
	return results, printMembership(row), err
}
