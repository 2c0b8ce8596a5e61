package membership

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// The results of a verification (6.4).
const (
	ResultCreated   = "created"
	ResultUpdated   = "updated"
	ResultUnchanged = "unchanged"
	// ResultQueued means that the store did not answer and is asked again later, or that the site decides about the owner.
	ResultQueued = "queued"
)

// applied is what became of a reading. refused is an error that is returned although the transaction is committed: of a
// theft, or of a claim that the site has refused.
type applied struct {
	result   string
	purchase addondb.Purchase // zero: it belongs to nobody that is known, and was not written
	refused  error
}

// apply writes an answer of the store: the purchase, the chain that it retires, its history,
// the memberships of all who are concerned, events and tasks (1.3).
func (s *Service) apply(ctx context.Context, tx *txn, r *reading, req request) (applied, error) {
	row, err := s.lockByToken(ctx, tx.DB, r.digest)
	if err != nil {
		return applied{}, err
	}
	if row.ID != r.known.ID || row.Reads != r.known.Reads {
		return applied{}, errStale
	}
	if err := checkProduct(r, req); err != nil {
		return applied{}, err
	}
	before, err := s.lockChain(ctx, tx.DB, row, r)
	if err != nil {
		return applied{}, err
	}
	to, err := s.attribute(ctx, tx.DB, row, r, req)
	if errors.Is(err, errTheft.Cause) {
		return applied{refused: errOwnedByOther}, s.reportTheft(ctx, tx, r, req.user)
	}
	if err != nil || to.user == "" && to.asked == "" && row.ID == 0 {
		return applied{}, err
	}
	done, err := s.write(ctx, tx, row, before, r, req, to)
	if err != nil || to.asked == "" {
		return done, err
	}
	return s.askOwner(ctx, tx, done.purchase, to.asked)
}

// lockByToken reads the purchase of a token for a change, zero for none.
func (s *Service) lockByToken(ctx context.Context, tx *addondb.DB, digest []byte) (addondb.Purchase, error) {
	row, err := tx.PurchaseByToken(ctx, platform, digest)
	if err != nil {
		return addondb.Purchase{}, ignoreNotFound(err)
	}
	return tx.LockPurchase(ctx, row.Name)
}

// checkProduct makes sure that a purchase is of a product that was expected and is sold here
// (1.3). A purchase that was accepted before stays so when its product leaves the map.
func checkProduct(r *reading, req request) error {
	if len(r.sub.Items) == 0 {
		return errNotSubscription
	}
	expected, mapped, once := req.product == "", r.known.ID != 0, r.known.ID != 0
	for _, item := range r.sub.Items {
		expected = expected || item.ProductID == req.product || item.Deferred == req.product
		mapped = mapped || r.selling.Packages[item.ProductID] != 0
		_, sold := r.selling.OneTime[item.ProductID]
		once = once || sold
	}
	switch {
	case !expected:
		return fault.New(countersign.KindUnprocessable, "product_mismatch", "The purchase is of another product")
	case mapped && r.sub.OneTime && !once:
		return errNotSubscription
	case !mapped:
		return errNotMapped
	}
	return nil
}

var errNotSubscription = fault.New(countersign.KindUnprocessable, "not_a_subscription", "This purchase is not a subscription")

var errNotMapped = fault.New(countersign.KindUnprocessable, "product_not_mapped", "The product of this purchase is not mapped to a membership package")

const alertNotMapped = "product_not_mapped"

// noteNotMapped tells people about a product that somebody bought and that activates nothing.
func (s *Service) noteNotMapped(ctx context.Context, product string) error {
	return s.raise(ctx, s.db, alertNotMapped, product, fmt.Sprintf("Somebody bought the product %s, which is not mapped to a membership package", product))
}

// readAtPrecision is how exactly a purchase knows when it was read last: an answer without
// news is not written more often.
const readAtPrecision = time.Hour

// write writes a purchase and everything that follows from it, also for its predecessors.
func (s *Service) write(ctx context.Context, tx *txn, row addondb.Purchase, predecessors []addondb.Purchase, r *reading, req request, to owner) (applied, error) {
	before, err := tx.PurchaseItems(ctx, row.ID)
	if err != nil {
		return applied{}, err
	}
	next, items, err := s.filled(ctx, tx.DB, row, before, r, to)
	if err != nil {
		return applied{}, err
	}
	retired := retiredBy(next, predecessors, r)
	if row.ID != 0 && !r.walked && samePurchase(row, next) && slices.Equal(before, items) {
		if s.now().Sub(row.ReadAt.Time) < readAtPrecision {
			return applied{result: ResultUnchanged, purchase: row}, nil
		}
		next.Reads = row.Reads
		return applied{result: ResultUnchanged, purchase: next}, tx.UpdatePurchase(ctx, next)
	}
	result := ResultUpdated
	if row.ID == 0 {
		result = ResultCreated
		next.ID, err = tx.AddPurchase(ctx, next)
		if errors.Is(err, sqldb.ErrNotFound) {
			return applied{}, errStale
		}
	} else {
		err = tx.UpdatePurchase(ctx, next)
	}
	if err == nil {
		err = setSuccessor(ctx, tx.DB, r, next.ID)
	}
	if err == nil {
		err = tx.SetPurchaseItems(ctx, next.ID, items)
	}
	if err != nil {
		return applied{}, err
	}
	if err := s.endAlertsOf(ctx, tx.DB, row, next); err != nil {
		return applied{}, err
	}
	if err := s.countChange(ctx, tx, stateOf(row, before), stateOf(next, items), items, retired); err != nil {
		return applied{}, err
	}
	if err := s.follow(ctx, tx, row, next, items, retired, req, to); err != nil {
		return applied{}, err
	}
	return applied{result: result, purchase: next}, s.access.SameKeyFile(ctx, tx.DB.Queries)
}

// follow writes what follows from a changed purchase.
func (s *Service) follow(ctx context.Context, tx *txn, row, next addondb.Purchase, items []addondb.PurchaseItem, retired []addondb.Purchase, req request, to owner) error {
	users := []string{next.UserID, row.UserID, to.from}
	for _, p := range retired {
		users = append(users, p.UserID)
		p.SupersededBy = next.ID
		if err := s.supersede(ctx, tx.DB, p); err != nil {
			return err
		}
	}
	claimants, err := s.endClaims(ctx, tx.DB, append(retired, row), next)
	if err != nil {
		return err
	}
	users = append(users, claimants...)
	if err := s.noteHistory(ctx, tx.DB, next, items, req.cause, ""); err != nil {
		return err
	}
	why := change{purchase: next}
	if to.from != "" {
		why.moved = []string{to.from, to.user}
	}
	if err := s.recompute(ctx, tx, why, users...); err != nil {
		return err
	}
	if hasDays(next) {
		if err := s.shiftDays(ctx, tx.DB, next.StartedAt, next.ID, row.UserID, next.UserID); err != nil {
			return err
		}
	}
	return s.schedule(ctx, tx.DB, next, req.cause)
}

// samePurchase reports whether two rows differ in nothing but when they were read.
func samePurchase(a, b addondb.Purchase) bool {
	a.Sealed, b.Sealed = nil, nil
	a.ReadAt, a.Reads = b.ReadAt, b.Reads
	return reflect.DeepEqual(a, b)
}

// retiredBy lists the predecessors whose place a purchase takes now (1.7). Those that are seen later are superseded from the
// start.
func retiredBy(next addondb.Purchase, predecessors []addondb.Purchase, r *reading) []addondb.Purchase {
	if !r.retires || next.SupersededBy != 0 {
		return nil
	}
	return slices.DeleteFunc(predecessors, func(p addondb.Purchase) bool { return p.SupersededBy != 0 })
}

// supersede ends a purchase whose place was taken by SupersededBy.
func (s *Service) supersede(ctx context.Context, tx *addondb.DB, p addondb.Purchase) error {
	p.Status, p.StatusSince, p.Access, p.Unverified = string(entitle.Superseded), s.timestamp(), false, false
	p.AcknowledgeSince = sqldb.Time{}
	p.Reads++
	if err := tx.UpdatePurchase(ctx, p); err != nil {
		return err
	}
	return s.noteHistory(ctx, tx, p, nil, causeSuperseded, "")
}

// end ends the access from a purchase that the store has forgotten.
func (s *Service) end(ctx context.Context, tx *txn, p addondb.Purchase, cause string) error {
	before := p
	p.Status, p.StatusSince, p.Access, p.Unverified = string(entitle.Expired), s.timestamp(), false, cause == causeUnverified
	p.AcknowledgeSince = sqldb.Time{}
	p.Reads++
	if err := tx.UpdatePurchase(ctx, p); err != nil {
		return err
	}
	if err := s.countEnd(ctx, tx, before, p); err != nil {
		return err
	}
	if err := s.noteHistory(ctx, tx.DB, p, nil, cause, ""); err != nil {
		return err
	}
	claimants, err := s.endClaims(ctx, tx.DB, []addondb.Purchase{before}, p)
	if err != nil {
		return err
	}
	return s.recompute(ctx, tx, change{purchase: p}, append(claimants, p.UserID)...)
}

// noteHistory writes a row of the history of a purchase.
func (s *Service) noteHistory(ctx context.Context, tx *addondb.DB, p addondb.Purchase, items []addondb.PurchaseItem, cause, detail string) error {
	h := addondb.PurchaseHistory{PurchaseID: p.ID, At: s.timestamp(), Cause: cause, State: p.State, Status: p.Status, ExpiresAt: p.ExpiresAt, Detail: detail}
	if main := mainItem(items); main != nil {
		h.OrderID = main.OrderID
	}
	return tx.AddPurchaseHistory(ctx, h)
}
