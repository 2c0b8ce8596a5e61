package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// acknowledgeTimeout bounds an acknowledgement in a request, within what is left of [claimTimeout];
// the task is the safety net.
const acknowledgeTimeout = 3 * time.Second

const alertUnacknowledged = "unacknowledged_purchase"

// acknowledgeNow acknowledges a purchase in a request, if that is due. A failure is left to
// the task that was put with the purchase.
func (s *Service) acknowledgeNow(ctx context.Context, store Store, selling iap.Selling, p addondb.Purchase) addondb.Purchase {
	if p.AcknowledgeSince.IsZero() {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, acknowledgeTimeout)
	defer cancel()
	done, err := s.acknowledge(ctx, store, selling, p)
	if err != nil {
		s.log.Warn("a purchase was not acknowledged; it is tried again", "purchase", p.Name, "cause", err)
		return p
	}
	return done
}

// acknowledge acknowledges a purchase in the store and writes that. A purchase that was
// bought again outside of the app gets its account id with it: the store accepts that at no
// other time (1.4).
func (s *Service) acknowledge(ctx context.Context, store Store, selling iap.Selling, p addondb.Purchase) (addondb.Purchase, error) {
	stored, err := openTokens(s.box(), p)
	if err != nil {
		return p, err
	}
	items, err := s.db.PurchaseItems(ctx, p.ID)
	main := mainItem(items)
	if err != nil || main == nil {
		return p, err
	}
	account := ""
	if stored.OutOfApp != nil && p.AccountID == "" {
		account = s.accountOf(p.UserID)
	}
	if err := accept(ctx, store, p, *main, stored.Token, account); err != nil {
		return p, errors.Join(refusal(err), s.noteCall(ctx, callAcknowledge, selling, err))
	}
	if err := s.noteCall(ctx, callAcknowledge, selling, nil); err != nil {
		return p, err
	}
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		if p, err = tx.LockPurchase(ctx, p.Name); err != nil || p.Acknowledged {
			return err
		}
		if account != "" {
			p.AccountID = account
			if err := tx.PutIdentity(ctx, account, p.UserID, s.timestamp()); err != nil {
				return err
			}
		}
		p.Acknowledged, p.AcknowledgeSince, p.Reads = true, sqldb.Time{}, p.Reads+1
		if err := tx.UpdatePurchase(ctx, p); err != nil {
			return err
		}
		if err := s.resolve(ctx, tx, alertUnacknowledged, p.Name); err != nil {
			return err
		}
		return s.noteHistory(ctx, tx, p, items, causeAcknowledged, "")
	})
	return p, err
}

// accept tells the store that a purchase was accepted. What is bought for some days can be bought again from then on.
func accept(ctx context.Context, store Store, p addondb.Purchase, main addondb.PurchaseItem, token, account string) error {
	switch {
	case p.OneTime && main.Days != entitle.Lifetime:
		err := store.Consume(ctx, main.ProductID, token)
		if reason, _ := reasonOf(err); reason == play.Refused && isConsumed(ctx, store, token) { // meanwhile
			return nil
		}
		return err
	case p.OneTime:
		return store.AcknowledgeOneTime(ctx, main.ProductID, token)
	}
	return store.Acknowledge(ctx, main.ProductID, token, account, "")
}

func isConsumed(ctx context.Context, store Store, token string) bool {
	sub, err := store.OneTime(ctx, token)
	return err == nil && len(sub.Items) > 0 && sub.Items[0].Consumed
}

// doAcknowledge is the task of an acknowledgement. It fails until the store has accepted it,
// or the purchase needs none any more. Before another attempt it reads the purchase.
func (s *Service) doAcknowledge(ctx context.Context, payload []byte) (again time.Time, err error) {
	p, store, selling, token, err := s.taskPurchase(ctx, payload)
	if errors.Is(err, errNothingToDo) || err == nil && p.AcknowledgeSince.IsZero() {
		return time.Time{}, nil
	}
	if err == nil && !s.now().Before(p.ReadAt.Add(inlineWait)) {
		// An earlier attempt without Google's answer may have succeeded.
		_, err = s.readAndApply(ctx, store, selling, token, request{cause: causeSchedule})
	}
	if err == nil {
		p, err = s.db.Purchase(ctx, p.Name)
	}
	if err == nil && !p.AcknowledgeSince.IsZero() {
		_, err = s.acknowledge(ctx, store, selling, p)
	}
	if err != nil && p.ID != 0 && !s.now().Before(p.AcknowledgeSince.Add(entitle.AcknowledgeAlarm)) {
		message := fmt.Sprintf("The purchase %s has not been acknowledged since %s. The store refunds it after three days", p.Name, p.AcknowledgeSince.UTC().Format(time.RFC3339))
		err = errors.Join(err, s.raise(ctx, s.db, alertUnacknowledged, p.Name, message))
	}
	if err != nil && !fault.IsUnavailable(err) { // a refusal may end, too
		err = fault.WithCause(fault.Unavailable("store_unavailable", "The store did not accept the acknowledgement"), err)
	}
	return time.Time{}, err
}
