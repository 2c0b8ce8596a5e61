package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
)

// doc drives [playdoc.Play].
type doc struct {
	*playdoc.Play
	options playdoc.Options
	clock   *dbtest.Clock
	// pushes signs the requests with notifications, and answers with the key: it is another
	// simulation after a rotation.
	pushes atomic.Pointer[playdoc.Play]
	once   map[string]bool // the tokens of products that are bought once
}

var docOneTime = []playdoc.OneTimeProduct{{ID: forever, Title: "Gold for ever", Option: "buy", Price: dollars(100)}, {ID: pass, Title: "Gold for 30 days", Option: "buy", Price: dollars(6)}}

var docProducts = []playdoc.Product{
	{ID: silver, Title: "Silver", Plans: []playdoc.Plan{{ID: "monthly", Period: "P1M", Price: dollars(3)}}},
	{ID: gold, Title: "Gold", Plans: []playdoc.Plan{
		{ID: "monthly", Period: "P1M", Price: dollars(5)},
		{ID: installments, Period: "P1M", Payments: 12, Price: dollars(4)},
		{ID: prepaid, Period: "P1M", Prepaid: true, Price: dollars(6)},
	}},
	{ID: unmapped, Title: "Extra storage", Plans: []playdoc.Plan{{ID: "monthly", Period: "P1M", Price: dollars(1)}}},
}

func dollars(units int64) playdoc.Money { return playdoc.Money{Currency: "USD", Units: units} }

func openPlaydoc(start time.Time) (simulation, error) {
	d := &doc{clock: dbtest.NewClock(start), once: map[string]bool{}}
	d.options = playdoc.Options{
		Package: appPackage, Products: docProducts, OneTime: docOneTime, Now: d.clock.Now,
		Audience: pushAudience, PushAccount: pushAccount, AccountKey: addontest.Key(), PushKey: addontest.Key(),
	}
	play, err := playdoc.New(d.options)
	d.Play = play
	d.pushes.Store(play)
	return d, err
}

// ServeHTTP implements [http.Handler].
func (d *doc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oauth2/v3/certs" {
		d.pushes.Load().ServeHTTP(w, r)
		return
	}
	d.Play.ServeHTTP(w, r)
}

func (d *doc) serviceAccount() []byte { return d.Account("") }

func (d *doc) move(to time.Time) { d.clock.Set(to) }

func (d *doc) buy(p purchase) (string, error) {
	if p.product == forever || p.product == pass {
		token, err := d.BuyOnce(playdoc.OneTimePurchase{Product: p.product, Account: p.account, Quantity: p.quantity, Pending: p.pending, Test: p.test})
		d.once[token] = true
		return token, err
	}
	mode := ""
	if p.mode == deferred {
		mode = "DEFERRED"
	}
	return d.Buy(playdoc.Purchase{Product: p.product, Plan: p.plan, Account: p.account, Linked: p.replaces, Mode: mode, Pending: p.pending, Test: p.test})
}

func (d *doc) buyAgain(token string) (string, error) {
	return d.Buy(playdoc.Purchase{Product: gold, OutOfApp: token})
}

func (d *doc) pay(token string) error {
	if d.once[token] {
		return d.PayOnce(token)
	}
	return d.Pay(token)
}

func (d *doc) cancelPending(token string) error {
	if d.once[token] {
		return d.CancelOnce(token)
	}
	return d.Cancel(token)
}

func (d *doc) refundPart(token string, n int) error { return d.RefundPart(token, n) }

func (d *doc) renew(token string) error      { return d.Renew(token) }
func (d *doc) decline(token string) error    { return d.Decline(token) }
func (d *doc) recover(token string) error    { return d.Recover(token) }
func (d *doc) cancel(token string) error     { return d.Cancel(token) }
func (d *doc) restore(token string) error    { return d.Restore(token) }
func (d *doc) pauseMonth(token string) error { return d.Pause(token, 1) }
func (d *doc) resume(token string) error     { return d.Resume(token) }
func (d *doc) expire(token string) error     { return d.Expire(token) }
func (d *doc) revoke(token string) error     { return d.Revoke(token) }

func (d *doc) addItem(token, product string) (string, error) { return d.ChangeAddOns(token, product) }
func (d *doc) removeItem(token, _ string) (string, error)    { return d.ChangeAddOns(token) }

func (d *doc) raisePrice(product, plan string, units int64) error {
	return d.IncreasePrice(product, plan, dollars(units))
}

func (d *doc) acceptPrice(token string) error { return d.AcceptPrice(token) }

func (d *doc) lastOrder(token string) string          { return d.LastOrder(token) }
func (d *doc) refund(order string, revoke bool) error { return d.Refund(order, revoke) }
func (d *doc) chargeback(order string) error          { return d.Chargeback(order) }

func (d *doc) reviewChargeback(order string) error { return d.ReviewChargeback(order) }
func (d *doc) reviewAnswer(order string) string    { return d.ReviewAnswer(order) }

func (d *doc) news() (list []message) {
	for _, m := range d.Messages() {
		list = append(list, message{m.ID, m.Data})
	}
	return list
}

func (d *doc) push(m message) (bearer string, body []byte, err error) {
	r, err := d.pushes.Load().Push(pushAudience, playdoc.Message{ID: m.id, Published: d.clock.Now(), Data: json.RawMessage(m.data)})
	if err != nil {
		return "", nil, err
	}
	body, err = io.ReadAll(r.Body)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), body, err
}

func (d *doc) withdraw(taken bool) {
	if taken {
		d.Withdraw(playdoc.ViewFinancial)
		return
	}
	d.Withdraw()
}

func (d *doc) replaceAccountKey() error { return d.ReplaceAccountKey(nil) }

func (d *doc) rotatePushKey() error {
	o := d.options
	o.PushKey = newKey()
	next, err := playdoc.New(o)
	d.pushes.Store(next)
	return err
}
