package simulator

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// Act is something that the buyer, the store or the site does with a purchase.
type Act string

// The acts.
const (
	Renew      Act = "renew"       // the next period is paid now
	Decline    Act = "decline"     // the card is declined from now on
	Recover    Act = "recover"     // the card works again, and what is due is paid
	Pause      Act = "pause"       // for 30 days, from the end of the period on
	Resume     Act = "resume"      // a pause ends, or is not begun
	Cancel     Act = "cancel"      // the renewals stop
	UndoCancel Act = "undo_cancel" // they go on
	Refund     Act = "refund"      // the current order is refunded, and the subscription ends
	Expire     Act = "expire"      // the renewals stop, and the clock moves to the end of the paid time
	// Wait moves the clock to the next thing that happens to the purchase by itself.
	Wait Act = "wait"
)

// pauseLength is how long a pause lasts.
const pauseLength = 30 * 24 * time.Hour

// Acts lists all acts.
func Acts() []Act {
	return []Act{Renew, Decline, Recover, Pause, Resume, Cancel, UndoCancel, Refund, Expire, Wait}
}

// possible lists the acts that a purchase allows now. ends is when the days of one end that is bought once, zero for never.
func possible(p playfake.Purchase, ends, now time.Time) []Act {
	active := p.State == string(play.Active)
	allowed := map[Act]bool{
		Renew:      active && p.Renews && !p.Declined && !p.Pausing,
		Decline:    p.Renews && !p.Declined,
		Recover:    p.Renews && p.Declined,
		Pause:      active && p.Renews && !p.Retrying && !p.Pausing,
		Resume:     p.State == string(play.Paused) || p.Renews && p.Pausing,
		Cancel:     p.Renews,
		UndoCancel: p.Restorable,
		Refund:     p.Live && p.Order != "",
		Expire:     p.Live && (!p.OneTime || ends.After(now)),
		Wait:       p.Live && !p.Next.IsZero(),
	}
	if p.Replaced {
		return []Act{}
	}
	return slices.DeleteFunc(Acts(), func(a Act) bool { return !allowed[a] })
}

// perform does an act.
func perform(store *playfake.Store, p playfake.Purchase, ends time.Time, act Act) error {
	switch act {
	case Renew:
		return store.Renew(p.Token)
	case Decline:
		return store.DeclineCard(p.Token)
	case Recover:
		return store.Recover(p.Token)
	case Pause:
		return store.Pause(p.Token, pauseLength)
	case Resume:
		return store.Resume(p.Token)
	case Cancel:
		return store.Cancel(p.Token)
	case UndoCancel:
		return store.UndoCancel(p.Token)
	case Refund:
		return store.Refund(p.Order, true)
	case Expire:
		if p.OneTime { // the store does not know when its days end
			store.AdvanceTo(ends)
			return nil
		}
		return expire(store, p)
	}
	store.AdvanceTo(p.Next)
	return nil
}

// expire stops the renewals, which ends a subscription without paid time, and moves the clock to
// the end of the paid time.
func expire(store *playfake.Store, p playfake.Purchase) error {
	if p.Renews {
		if err := store.Cancel(p.Token); err != nil {
			return err
		}
	}
	if now, _ := find(store, refOf(p.Token)); now.Live {
		store.AdvanceTo(now.ExpiresAt)
	}
	return nil
}

// Do does an act with a purchase and has the site process what the store sends about it. An act
// that is not possible is an error of kind Conflict (not_possible), and so is each one while the store is full (simulator_full).
func (s *Service) Do(ctx context.Context, actor people.Actor, ref string, act Act) (Step, error) {
	selling, err := s.admit(ctx, actor)
	if err != nil {
		return Step{}, err
	}
	if !slices.Contains(Acts(), act) {
		return Step{}, fault.Invalid(fault.CodeInvalid, "Unknown act of the simulated store")
	}
	run := s.begin(ctx, actor, selling)
	run.change(func(tx *addondb.DB, st *state) error {
		p, found := find(st.store, ref)
		if !found {
			return errNoPurchase
		}
		known, err := s.Members.Lookup(ctx, tx, p.Token)
		switch {
		case err != nil:
			return err
		case !slices.Contains(possible(p, known.ExpiresAt, st.store.Now()), act), st.Buyers[p.Token] == "": // the user was erased
			return errNotPossible
		}
		if err := st.full(); err != nil {
			return err
		}
		run.token, run.user = p.Token, st.Buyers[p.Token]
		if err := perform(st.store, p, known.ExpiresAt, act); err != nil {
			return fault.WithCause(errNotPossible, err)
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionSimulatorAct, Subject: ref, Detail: string(act)})
	})
	run.process()
	return run.membershipStep()
}
