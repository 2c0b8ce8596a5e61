package conformance

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/play/playfake"
)

// fake drives [playfake.Store].
type fake struct {
	*playfake.Store
	http.Handler
	file []byte // of the service account
	seen int    // messages that news has returned
}

func openPlayfake(start time.Time) (simulation, error) {
	store, err := playfake.New(playfake.Options{
		Package: appPackage, Start: start, AccountKey: addontest.Key(), PushKey: addontest.Key(), Audience: pushAudience, PushAccount: pushAccount,
	})
	if err != nil {
		return nil, err
	}
	account, err := store.ServiceAccount()
	return &fake{Store: store, Handler: store.Handler(), file: account}, err
}

func (f *fake) serviceAccount() []byte { return f.file }

func (f *fake) move(to time.Time) { f.AdvanceTo(to) }

func (f *fake) buy(p purchase) (string, error) {
	mode := ""
	if p.mode == deferred {
		mode = playfake.Deferred
	}
	return f.Buy(playfake.BuyOptions{
		ProductID: p.product, PlanID: p.plan, Account: p.account, Replaces: p.replaces, Mode: mode, Pending: p.pending, Test: p.test,
		Quantity: int64(p.quantity),
	})
}

func (f *fake) buyAgain(token string) (string, error) { return f.Resubscribe(token) }
func (f *fake) pay(token string) error                { return f.Pay(token) }
func (f *fake) cancelPending(token string) error      { return f.CancelPending(token) }
func (f *fake) decline(token string) error            { return f.DeclineCard(token) }
func (f *fake) recover(token string) error            { return f.Recover(token) }
func (f *fake) cancel(token string) error             { return f.Cancel(token) }
func (f *fake) restore(token string) error            { return f.UndoCancel(token) }
func (f *fake) pauseMonth(token string) error         { return f.Pause(token, 30*24*time.Hour) }
func (f *fake) resume(token string) error             { return f.Resume(token) }
func (f *fake) expire(token string) error             { return f.Expire(token) }
func (f *fake) revoke(token string) error             { return f.Revoke(token) }

// renew has nothing to do: the clock renews.
func (f *fake) renew(token string) error {
	if p := f.find(token); p.State != "ACTIVE" || !p.ExpiresAt.After(f.Now()) {
		return errors.New("the subscription was not renewed")
	}
	return nil
}

func (f *fake) find(token string) playfake.Purchase {
	all := f.Purchases()
	i := slices.IndexFunc(all, func(p playfake.Purchase) bool { return p.Token == token })
	if i < 0 {
		return playfake.Purchase{}
	}
	return all[i]
}

func (f *fake) addItem(token, product string) (string, error) {
	return token, f.AddItem(token, playfake.Line{ProductID: product})
}

func (f *fake) removeItem(token, product string) (string, error) {
	return token, f.RemoveItem(token, product)
}

func (f *fake) raisePrice(product, plan string, units int64) error {
	return f.ChangePrice(product, plan, playfake.Money{Currency: "EUR", Units: units}, playfake.PriceIncrease)
}

func (f *fake) acceptPrice(token string) error { return f.AcceptPrice(token) }

func (f *fake) lastOrder(token string) string {
	orders := f.Orders(token)
	if len(orders) == 0 {
		return ""
	}
	return orders[len(orders)-1]
}

func (f *fake) refund(order string, revoke bool) error { return f.Refund(order, revoke) }
func (f *fake) refundPart(token string, n int) error   { return f.RefundQuantity(token, int64(n)) }
func (f *fake) chargeback(order string) error          { return f.ChargeBack(order) }

func (f *fake) reviewChargeback(order string) error {
	_, err := f.ReviewChargeback(order)
	return err
}

func (f *fake) reviewAnswer(order string) string { return f.ReviewAnswer(order) }

func (f *fake) news() (list []message) {
	all := f.Messages()
	for _, m := range all[f.seen:] {
		list = append(list, message{m.ID, m.Data})
	}
	f.seen = len(all)
	return list
}

func (f *fake) push(m message) (string, []byte, error) {
	return f.Push(playfake.Message{ID: m.id, PublishedAt: f.Now(), Data: m.data})
}

func (f *fake) replaceAccountKey() (err error) {
	if err = f.RotateAccountKey(newKey()); err == nil {
		f.file, err = f.ServiceAccount()
	}
	return err
}

func (f *fake) withdraw(taken bool)  { f.Deny(playfake.PartPurchases, taken) }
func (f *fake) rotatePushKey() error { return f.RotatePushKey(nil) }
