package playfake_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

const day = 24 * time.Hour

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// shop is a store, its client, and what was seen of its notifications.
type shop struct {
	*playfake.Store
	t      *testing.T
	client *play.Client
	seen   int
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := must.Get(playfake.New(playfake.Options{AccountKey: testKey(), PushKey: testKey(), Audience: "https://example.com/push"}))(t)
	return &shop{Store: s, t: t, client: clientOf(t, s)}
}

func clientOf(t *testing.T, s *playfake.Store) *play.Client {
	t.Helper()
	file := must.Get(s.ServiceAccount())(t)
	return must.Get(play.Open(play.Options{ServiceAccount: file, Package: s.Package(), Transport: s.Transport(), Now: s.Now}))(t)
}

// must fails the test on an error of an act.
func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// refused fails the test unless an act was refused.
func (s *shop) refused(err error) {
	s.t.Helper()
	if err == nil {
		s.t.Error("the act was not refused")
	}
}

// buy buys and acknowledges.
func (s *shop) buy(o playfake.BuyOptions) string {
	s.t.Helper()
	if o.ProductID == "" {
		o.ProductID = "gold_monthly"
	}
	token, err := s.Buy(o)
	s.must(err)
	if !o.Pending {
		s.ack(token)
	}
	return token
}

func (s *shop) ack(token string) {
	s.t.Helper()
	s.must(s.client.Acknowledge(s.t.Context(), "gold_monthly", token, "", ""))
}

func (s *shop) get(token string) play.Subscription {
	s.t.Helper()
	found, err := s.client.Subscription(s.t.Context(), token)
	s.must(err)
	return found
}

// want checks the state and the end of a subscription, and the codes of the notifications
// since the last time; V stands for a voided order.
func (s *shop) want(token string, state play.State, expires time.Time, codes ...any) play.Subscription {
	s.t.Helper()
	found := s.get(token)
	if found.State != state {
		s.t.Errorf("the state is %s, want %s", found.State, state)
	}
	if !found.Items[0].ExpiresAt.Equal(expires) {
		s.t.Errorf("it ends at %v, want %v", found.Items[0].ExpiresAt, expires)
	}
	s.wantCodes(codes...)
	return found
}

func (s *shop) wantCodes(codes ...any) {
	s.t.Helper()
	got := []string{}
	all := s.Messages()
	for _, m := range all[s.seen:] {
		_, body, err := s.Push(m)
		s.must(err)
		n, err := play.ParsePush(body)
		s.must(err)
		if n.Kind == play.OfVoid {
			got = append(got, "V")
		} else {
			got = append(got, fmt.Sprint(n.Code))
		}
	}
	s.seen = len(all)
	want := []string{}
	for _, code := range codes {
		want = append(want, fmt.Sprint(code))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the notifications are %v, want %v", got, want)
	}
}

// month returns the store's time after months.
func (s *shop) month(begin time.Time, n int) time.Time { return begin.AddDate(0, n, 0) }

func TestASubscriptionRenewsAtItsEnd(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	token := s.buy(playfake.BuyOptions{})
	first := s.want(token, play.Active, s.month(begin, 1), play.CodePurchased)
	s.Advance(31*day - time.Second)
	s.want(token, play.Active, s.month(begin, 1))
	s.Advance(time.Second)
	second := s.want(token, play.Active, s.month(begin, 2), play.CodeRenewed)
	if first.Items[0].OrderID+"..0" != second.Items[0].OrderID || first.ETag == second.ETag {
		t.Errorf("the orders are %s and %s", first.Items[0].OrderID, second.Items[0].OrderID)
	}
	s.must(s.Renew(token))
	s.want(token, play.Active, s.month(begin, 3), play.CodeRenewed)
	s.Advance(365 * day)
	s.want(token, play.Active, s.month(begin, 14), slices.Repeat([]any{play.CodeRenewed}, 11)...)
}

func TestARenewalDayStaysInItsMonth(t *testing.T) {
	s := newShop(t)
	s.AdvanceTo(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	token := s.buy(playfake.BuyOptions{})
	s.want(token, play.Active, time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC), play.CodePurchased)
	s.Advance(29 * day)
	s.want(token, play.Active, time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), play.CodeRenewed)
}

func TestAnOfferHasItsPhases(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	trial := s.buy(playfake.BuyOptions{OfferID: "trial"})
	if got := s.want(trial, play.Active, begin.AddDate(0, 0, 7), play.CodePurchased).Items[0]; got.Phase != "free_trial" || got.OfferID != "trial" {
		t.Errorf("the item is %+v", got)
	}
	intro := s.buy(playfake.BuyOptions{OfferID: "intro"})
	s.wantCodes(play.CodePurchased)
	s.Advance(7 * day)
	expect.Equalf(t, s.get(trial).Items[0].Phase, "base", "after the trial")
	for _, want := range []string{"introductory", "introductory", "introductory", "base"} {
		if got := s.get(intro).Items[0].Phase; got != want {
			t.Errorf("at %v: %s, want %s", s.Now(), got, want)
		}
		s.AdvanceTo(s.get(intro).Items[0].ExpiresAt)
	}
}

func TestWithoutAcknowledgementAPurchaseIsTakenBack(t *testing.T) {
	for name, test := range map[string]struct {
		o     playfake.BuyOptions
		after time.Duration
	}{
		"after three days":                      {playfake.BuyOptions{}, 3 * day},
		"of a license tester in five minutes":   {playfake.BuyOptions{Test: true}, 5 * time.Minute},
		"of a short prepaid plan in half of it": {playfake.BuyOptions{ProductID: "short"}, 36 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.must(s.AddProduct(playfake.Product{ID: "short", Plans: []playfake.Plan{{ID: "p", Kind: playfake.Prepaid, Period: "P3D"}}}))
			if test.o.ProductID == "" {
				test.o.ProductID = "gold_monthly"
			}
			token, err := s.Buy(test.o)
			s.must(err)
			s.wantCodes(play.CodePurchased)
			s.Advance(test.after - time.Second)
			expect.Equalf(t, s.get(token).State, play.Active, "before its time")
			s.Advance(time.Second)
			if got := s.want(token, play.Expired, s.Now(), "V", play.CodeRevoked); got.CanceledBy != "system" {
				t.Errorf("ended by %q", got.CanceledBy)
			}
			list, _, err := s.client.Voided(t.Context(), time.Time{}, time.Time{}, "")
			s.must(err)
			if len(list) != 1 || list[0].Reason != 8 || list[0].Source != 2 {
				t.Errorf("the voided list is %+v", list)
			}
		})
	}
}

func TestATokenIsGoneSixtyDaysAfterItsEnd(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{})
	s.must(s.Expire(token))
	s.want(token, play.Expired, s.Now(), play.CodePurchased, play.CodeCanceled, play.CodeExpired)
	s.Advance(60 * day)
	s.get(token)
	s.Advance(time.Second)
	_, err := s.client.Subscription(t.Context(), token)
	if playErr, ok := err.(*play.Error); !ok || playErr.Reason != play.Gone {
		t.Errorf("the error is %v", err)
	}
}

func TestLicenseTestersRenewInMinutes(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	token := s.buy(playfake.BuyOptions{Test: true})
	if !s.want(token, play.Active, begin.Add(5*time.Minute), play.CodePurchased).Test {
		t.Error("it is not a test purchase")
	}
	s.Advance(time.Hour)
	s.want(token, play.Expired, begin.Add(35*time.Minute), append(slices.Repeat([]any{play.CodeRenewed}, 6), play.CodeCanceled, play.CodeExpired)...)
	yearly := s.buy(playfake.BuyOptions{Test: true, PlanID: "yearly"})
	s.want(yearly, play.Active, s.Now().Add(30*time.Minute), play.CodePurchased)
}

func TestASnapshotHoldsAllThatIsLeftToHappen(t *testing.T) {
	s := newShop(t)
	token := s.buy(playfake.BuyOptions{Account: "a"})
	s.must(s.DeclineCard(token))
	s.Advance(32*day + time.Hour)
	before := s.get(token)
	snapshot, err := s.Snapshot()
	s.must(err)
	other, err := playfake.New(playfake.Options{})
	s.must(err)
	s.must(other.Restore(snapshot))
	again, err := other.Snapshot()
	s.must(err)
	expect.Equalf(t, string(again), string(snapshot), "a restored store has another snapshot")
	// The client of before goes on: its access token is known.
	restored, err := clientOf(t, other).Subscription(t.Context(), token)
	s.must(err)
	if restored.State != play.InGracePeriod || restored.ETag != before.ETag || restored.Account != "a" || len(other.Messages()) != len(s.Messages()) {
		t.Errorf("the restored purchase is %+v", restored)
	}
	for _, broken := range []string{"", "{}", `{"Package":"a.b"}`, "[1]"} {
		s.refused(other.Restore([]byte(broken)))
	}
	expect.Equalf(t, other.Package(), s.Package(), "a broken snapshot replaced the state")
}

func TestPurchasesSayWhatHappensNext(t *testing.T) {
	s := newShop(t)
	begin := s.Now()
	token := s.buy(playfake.BuyOptions{Account: "a"})
	s.must(s.DeclineCard(token))
	pending := s.buy(playfake.BuyOptions{Pending: true})
	s.Advance(31 * day)
	all := s.Purchases()
	want := []playfake.Purchase{
		{Token: token, State: "ACTIVE", ProductID: "gold_monthly", PlanID: "monthly", Account: "a", Acknowledged: true, Declined: true, ExpiresAt: s.month(begin, 1), Next: s.Now().Add(day),
			NextState: "IN_GRACE_PERIOD", Live: true, Renews: true, Retrying: true, Order: s.Orders(token)[0]},
		{Token: pending, State: "PENDING_PURCHASE_CANCELED", ProductID: "gold_monthly", PlanID: "monthly"},
	}
	if !slices.Equal(all, want) {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
}

// counter is a source of ids that counts.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.n
		c.n++
	}
	return len(p), nil
}

func TestIdsComeFromTheSource(t *testing.T) {
	var tokens, orders []string
	for range 2 {
		s := must.Get(playfake.New(playfake.Options{Random: &counter{}}))(t)
		token := must.Get(s.Buy(playfake.BuyOptions{ProductID: "gold_monthly"}))(t)
		tokens, orders = append(tokens, token), append(orders, s.Orders(token)...)
	}
	if tokens[0] != tokens[1] || orders[0] != orders[1] {
		t.Errorf("tokens %v, orders %v", tokens, orders)
	}
}
