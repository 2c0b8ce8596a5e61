package simulator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play/playfake"
)

// Purchase is a purchase in the simulated store. Times are those of its clock.
type Purchase struct {
	// ID is the id of the purchase in the addon, "" before the addon knows it.
	ID string
	// Ref names it in addresses and commands. It does not tell the purchase token.
	Ref string
	// User is the buyer, "" once that user was erased.
	User          string
	Product, Plan string
	// OneTime reports a product that was bought once, which nothing replaces.
	OneTime bool
	// State is active, canceled, in_grace_period, on_hold, paused or expired. Of what is bought once it is pending, purchased or cancelled.
	State                              string
	Acknowledged, Declined, Superseded bool
	ExpiresAt                          time.Time
	// Next is when the next thing happens by itself, zero for never, and NextState the state
	// after it.
	Next      time.Time
	NextState string
	// Acts are those that are possible now.
	Acts []Act
}

// refBytes is how much of the SHA-256 of its token names a purchase.
const refBytes = 6

func refOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:refBytes])
}

// find finds a purchase by its reference.
func find(store *playfake.Store, ref string) (playfake.Purchase, bool) {
	for _, p := range store.Purchases() {
		if refOf(p.Token) == ref {
			return p, true
		}
	}
	return playfake.Purchase{}, false
}

// Purchases lists all purchases, newest first. now is the time on the store's clock.
func (s *Service) Purchases(ctx context.Context, actor people.Actor) (list []Purchase, now time.Time, err error) {
	st, err := s.look(ctx, actor)
	if err != nil {
		return nil, now, err
	}
	list = []Purchase{}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		for _, p := range slices.Backward(st.store.Purchases()) {
			shown, err := s.show(ctx, tx, st, p)
			if err != nil {
				return err
			}
			list = append(list, shown)
		}
		return nil
	})
	return list, st.store.Now(), err
}

// Purchase returns one by its reference.
func (s *Service) Purchase(ctx context.Context, actor people.Actor, ref string) (Purchase, error) {
	st, err := s.look(ctx, actor)
	if err != nil {
		return Purchase{}, err
	}
	p, found := find(st.store, ref)
	if !found {
		return Purchase{}, errNoPurchase
	}
	return s.show(ctx, s.db, st, p)
}

// look reads the store after what became due.
func (s *Service) look(ctx context.Context, actor people.Actor) (st *state, err error) {
	selling, err := s.admit(ctx, actor)
	if err != nil {
		return nil, err
	}
	st, due, err := s.read(ctx, selling)
	if err == nil && due {
		_, err = s.change(ctx, selling, 0, func(_ *addondb.DB, now *state) error { st = now; return nil })
	}
	return st, err
}

func (s *Service) show(ctx context.Context, tx *addondb.DB, st *state, p playfake.Purchase) (Purchase, error) {
	known, err := s.Members.Lookup(ctx, tx, p.Token)
	expires := p.ExpiresAt
	if p.OneTime {
		expires = known.ExpiresAt
	}
	shown := Purchase{
		ID: known.Name, Ref: refOf(p.Token), User: known.User, Product: p.ProductID, Plan: p.PlanID, OneTime: p.OneTime, State: strings.ToLower(p.State),
		Acknowledged: p.Acknowledged, Declined: p.Declined, Superseded: p.Replaced, ExpiresAt: expires,
		Next: p.Next, NextState: strings.ToLower(p.NextState), Acts: possible(p, known.ExpiresAt, st.store.Now()),
	}
	shown.User = cmp.Or(shown.User, st.Buyers[p.Token])
	if shown.User == "" { // who was erased
		shown.Acts = nil
	}
	return shown, err
}

// Clear forgets all purchases: in the store, and in the addon, whose memberships are derived
// without them.
func (s *Service) Clear(ctx context.Context, actor people.Actor) error {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionSimulatorClear}); err != nil {
			return err
		}
		return s.forget(ctx, tx)
	})
}

// forget empties the store, and deletes its purchases in the addon, at the end of a transaction.
func (s *Service) forget(ctx context.Context, tx *addondb.DB) error {
	if _, err := tx.LockSimulator(ctx, s.access.Timestamp()); err != nil {
		return err
	}
	if err := tx.SetSimulator(ctx, []byte{}, s.access.Timestamp()); err != nil {
		return err
	}
	return s.Members.ForgetSimulated(ctx, tx)
}

// Published ends the simulated purchases when a publication ends test mode, at the end of its transaction: nobody keeps what
// nobody paid for.
func (s *Service) Published(ctx context.Context, tx *addondb.DB, before, after iap.Values) error {
	if !before.Sandbox || after.Sandbox {
		return nil
	}
	return s.forget(ctx, tx)
}
