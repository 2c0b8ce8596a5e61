package membership

import (
	"context"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Found is a purchase and the user to whom it belongs.
type Found struct {
	Purchase countersign.IAPPurchase
	User     string
}

// Find lists the purchases of a user, with an order, with an id or with a token, newest first.
func (s *Service) Find(ctx context.Context, actor people.Actor, text string) (list []Found, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxToken || strings.ContainsRune(text, 0) || text != strings.ToValidUTF8(text, "") {
		return nil, nil
	}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := tx.FindPurchases(ctx, text, platform, digestOf(s.box(), text), maxPurchases)
		if err != nil {
			return err
		}
		for _, row := range rows {
			printed, err := s.printPurchase(ctx, tx, row)
			if err != nil {
				return err
			}
			list = append(list, Found{printed, row.UserID})
		}
		return nil
	})
	return list, err
}

// Moment is what became of a purchase at a time.
type Moment struct {
	At        time.Time
	Cause     string // why it was read or changed
	State     string // the store's
	Status    string // ours
	ExpiresAt time.Time
	OrderID   string
	Detail    string
}

// Timeline lists what became of a purchase, newest first.
func (s *Service) Timeline(ctx context.Context, actor people.Actor, name string) ([]Moment, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, err
	}
	const limit = 500
	p, err := s.db.Purchase(ctx, name)
	if err != nil {
		return nil, sqldb.IfNotFound(err, noPurchase)
	}
	rows, err := s.db.PurchaseHistory(ctx, p.ID, limit)
	return sqldb.Convert(rows, func(h addondb.PurchaseHistory) Moment {
		return Moment{At: h.At.Time, Cause: h.Cause, State: h.State, Status: h.Status, ExpiresAt: h.ExpiresAt.Time, OrderID: h.OrderID, Detail: h.Detail}
	}), err
}
