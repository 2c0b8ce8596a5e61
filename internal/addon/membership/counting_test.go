package membership

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

func TestWhenAnOrderIsReadAgain(t *testing.T) {
	paid := func(state string) *play.Order {
		return &play.Order{ID: "GPA.1", State: state, CreatedAt: noon, Total: &play.Money{Units: 5, Currency: "EUR"}}
	}
	for _, tt := range []struct {
		name     string
		paid     *play.Order
		refunded bool // while the store was asked
		amount   int64
		wait     time.Duration // until it is read again, 0 if it is not
	}{
		{"one that was paid is read once", paid("processed"), false, 500, 0},
		{"one whose refund has begun is read again", paid("pending_refund"), false, 500, unreadWait},
		{"one that the store does not return is read again", nil, false, 0, unreadWait},
		{"one that was refunded meanwhile is read again", paid("processed"), true, 0, ordersWait},
	} {
		t.Run(tt.name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				ctx := t.Context()
				must.Do(t, f.db.AddOrder(ctx, "GPA.1", 1, f.timestamp()))
				due, err := f.db.DueOrders(ctx, f.timestamp(), ordersAtOnce)
				if err != nil || len(due) != 1 {
					t.Fatal(due, err)
				}
				if tt.refunded {
					must.Do(t, f.db.RereadOrders(ctx, 1, at(f.Service.now().Add(ordersWait))))
				}
				must.Do(t, f.applyOrder(ctx, due[0], tt.paid))
				f.clock.Move(tt.wait)
				due, err = f.db.DueOrders(ctx, f.timestamp(), ordersAtOnce)
				if err != nil || (len(due) == 1) != (tt.wait > 0) {
					t.Errorf("due after %s: %+v, %v", tt.wait, due, err)
				}
				var o addondb.Order
				err = f.db.Tx(ctx, func(tx *addondb.DB) error { o, err = tx.LockOrder(ctx, "GPA.1"); return err })
				if err != nil || o.Amount != tt.amount {
					t.Errorf("%+v, %v, want an amount of %d", o, err, tt.amount)
				}
			})
		})
	}
}
