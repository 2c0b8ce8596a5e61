package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestAVerifiedPurchaseActivatesAMembership(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		o := f.bought(t, "ana", "token-1", "gold_monthly")
		p, m := o.Purchase, o.Membership
		if o.Result != ResultCreated || o.Pending || !m.Active || m.Status != "active" || m.Package.ID != gold || m.Package.Name != "Gold" || *m.Source != "store" ||
			!m.WillRenew || m.Grace || m.ActionRequired != nil || m.Version != 1 || !m.Until.Equal(month) || !m.Since.Equal(noon) {
			t.Errorf("%+v %+v", o, m)
		}
		if want := "https://play.google.com/store/account/subscriptions?sku=gold_monthly&package=com.example.app"; m.ManageURL == nil || *m.ManageURL != want {
			t.Errorf("manage at %v", m.ManageURL)
		}
		if !strings.HasPrefix(p.ID, "pur_") || p.State != "active" || !p.Acknowledged || !p.AutoRenewing || p.Price.Amount != "4.99" || p.Price.Currency != "EUR" ||
			p.OrderID != "GPA.1" || p.OfferID != nil || p.Replaces != nil || p.Environment != "production" || p.BasePlanID != "monthly" {
			t.Errorf("%+v", p)
		}
		f.wantEvents(t, "activated ana")
		if got := f.due(KindWatch, p.ID); !got.Equal(month.Add(30 * time.Second)) {
			t.Errorf("watched at %s", got)
		}
		again, err := f.Verify(t.Context(), "ana", "token-1", "gold_monthly")
		if err != nil || again.Result != ResultUnchanged || again.Membership.Version != 1 || again.Purchase.ID != p.ID {
			t.Errorf("again: %+v, %v", again, err)
		}
		f.change("token-1", func(s *play.Subscription) {
			s.Items[0].ExpiresAt, s.Items[0].OrderID = month.AddDate(0, 1, 0), "GPA.1..0"
		})
		renewed, err := f.Verify(t.Context(), "ana", "token-1", "")
		if err != nil || renewed.Result != ResultUpdated || renewed.Membership.Version != 2 || renewed.Purchase.OrderID != "GPA.1..0" {
			t.Errorf("renewed: %+v, %v", renewed, err)
		}
		f.wantEvents(t, "renewed ana")
	})
}

func TestAPurchaseIsRefused(t *testing.T) {
	cases := []struct {
		name, product string
		arrange       func(f *fixture)
		code          string
		asked         int // how often the store was
	}{
		{"a malformed token", "", func(f *fixture) { f.setDown(&play.Error{Reason: play.InvalidToken}) }, "invalid_token", 1},
		{"a token that ended too long ago", "", func(f *fixture) { f.setDown(&play.Error{Reason: play.Gone}) }, "purchase_gone", 1},
		{"another product than the app expects", "silver_monthly", func(*fixture) {}, "product_mismatch", 1},
		{"a product that is not mapped", "", func(f *fixture) { f.selling.Packages = map[string]int64{"silver_monthly": silver} }, "product_not_mapped", 1},
		{"a purchase without products", "", func(f *fixture) { f.change("token", func(s *play.Subscription) { s.Items = nil }) }, "not_a_subscription", 1},
		{"a test purchase while they are denied", "", func(f *fixture) {
			f.change("token", func(s *play.Subscription) { s.Test = true })
			f.selling.TestPurchases = entitle.TestPurchases{Rule: entitle.AllowListTests, Users: []string{"ben"}}
		}, "test_purchase_not_allowed", 1},
		{"no account id under the policy strict", "", func(f *fixture) {
			f.selling.Policy.Unbound = entitle.Strict
			f.change("token", func(s *play.Subscription) { s.Account = "" })
		}, "account_binding_required", 1},
		{"another user's account id", "", func(f *fixture) { f.change("token", func(s *play.Subscription) { s.Account = f.accountOf("ben") }) }, "owned_by_other_user", 1},
		{"an account id that was never handed out", "", func(f *fixture) { f.change("token", func(s *play.Subscription) { s.Account = "unknown" }) }, "owned_by_other_user", 1},
		{"in-app purchases are off", "", func(f *fixture) { f.selling.Enabled = false }, "iap_disabled", 0},
		{"no service account", "", func(f *fixture) { f.selling.ServiceAccount = nil }, "not_configured", 0},
	}
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				before := f.selling
				f.sell("token", sub("gold_monthly", f.accountOf("ana")))
				c.arrange(f)
				asked := f.store.count("token")
				_, err := f.Verify(t.Context(), "ana", "token", c.product)
				wantCode(t, err, c.code)
				if got := f.store.count("token") - asked; got != c.asked {
					t.Errorf("the store was asked %d times, want %d", got, c.asked)
				}
				f.wantMembership(t, "ana", entitle.None, 0, 0)
				f.selling = before
				f.setDown(nil)
				f.clock.Move(failureWindow + time.Second)
			})
		}
		if got := fmt.Sprint(f.store.count("acknowledge token")); got != "0" {
			t.Errorf("acknowledged %s times", got)
		}
		kinds := []string{}
		alerts, err := f.Alerts(t.Context(), program)
		for _, a := range alerts {
			kinds = append(kinds, a.Kind+" "+a.Subject)
		}
		if slices.Sort(kinds); err != nil || !slices.Equal(kinds, []string{alertNotMapped + " gold_monthly"}) {
			t.Errorf("alerts %q, %v", kinds, err)
		}
	})
}

func TestMalformedRequestsNeverReachTheStore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range []struct{ user, token string }{
			{"ana", ""}, {"ana", strings.Repeat("x", maxToken+1)}, {"ana", "a b"}, {"ana", "a\x00b"}, {"ana", "ä"},
			{"", "token"}, {strings.Repeat("x", input.MaxUserID+1), "token"}, {"..", "token"}, {"a\nb", "token"}, {"a\xffb", "token"},
		} {
			_, err := f.Verify(t.Context(), c.user, c.token, "")
			wantCode(t, err, "invalid_request")
		}
		expect.Equalf(t, len(f.store.calls), 0, "%v", f.store.calls)
	})
}

func TestAFreshTokenMayBeUnknownForAMoment(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.store.asked = func(string) {
			if f.store.count("token") == 2 {
				f.sell("token", sub("gold_monthly", f.accountOf("ana")))
			}
		}
		if o, err := f.Verify(t.Context(), "ana", "token", ""); err != nil || o.Result != ResultCreated {
			t.Errorf("%+v, %v", o, err)
		}
		if want := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}; !slices.Equal(f.waits, want) {
			t.Errorf("waits %v", f.waits)
		}
	})
}

func TestABadTokenIsNotSentToTheStoreAgainForFiveMinutes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.setDown(&play.Error{Reason: play.InvalidToken})
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "invalid_token")
		asked := f.store.count("token")
		_, err = f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "repeated_failure")
		expect.Equalf(t, f.store.count("token"), asked, "the store was asked")
		f.clock.Move(failureWindow + time.Second)
		f.setDown(nil)
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		if _, err := f.Verify(t.Context(), "ana", "token", ""); err != nil {
			t.Error(err)
		}
	})
}

func TestWhileTheStoreIsDownAVerificationIsQueued(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		for name, down := range map[string]error{"an outage": unavailable, "another error": errors.New("connection reset"), "a full quota": &play.Error{Reason: play.Unavailable, RetryAfter: time.Minute}} {
			f.setDown(down)
			o, err := f.Verify(t.Context(), "ana", "token", "")
			if err != nil || !o.Pending || o.Result != ResultQueued || o.Purchase != nil || o.Membership.Status != "pending" || o.Membership.Active {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
		}
		f.wantMembership(t, "ana", entitle.Pending, 0, 1)
		for range 5 { // the store is asked once each time, by whoever finds out whether it answers
			f.clock.Move(time.Minute)
			asked := f.store.count("token")
			if failed := f.run(t); len(failed) > 0 || f.store.count("token") != asked+1 {
				t.Errorf("asked %d times, %v", f.store.count("token")-asked, failed)
			}
		}
		f.setDown(nil)
		f.clock.Move(time.Minute)
		if failed := f.run(t); len(failed) != 0 {
			t.Error(failed)
		}
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantEvents(t, "changed ana", "activated ana")
		expect.Equalf(t, f.store.count("acknowledge token"), 1, "not acknowledged once")
	})
}

func TestAPendingPaymentIsNeverAcknowledged(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		pending := sub("gold_monthly", f.accountOf("ana"))
		pending.State, pending.Items[0].ExpiresAt, pending.Items[0].OrderID = play.Pending, time.Time{}, ""
		f.sell("token", pending)
		o, err := f.Verify(t.Context(), "ana", "token", "")
		if err != nil || !o.Pending || o.Membership.Status != "pending" || o.Purchase.State != "pending" {
			t.Errorf("%+v, %v", o, err)
		}
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		if o, err = f.Verify(t.Context(), "ana", "token", ""); err != nil || o.Pending || !o.Membership.Active || !o.Purchase.Acknowledged {
			t.Errorf("%+v, %v", o, err)
		}
		expect.Equalf(t, f.store.count("acknowledge token"), 1, "not acknowledged once")
		f.wantEvents(t, "changed ana", "activated ana")
	})
}

func TestRestoreAnswersForEachToken(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		tokens := []string{}
		for i := range maxRestore {
			token := fmt.Sprintf("token-%d", i)
			tokens = append(tokens, token)
			switch i % 4 {
			case 0:
				f.sell(token, sub("silver_monthly", f.accountOf("ana")))
			case 1:
				f.sell(token, sub("gold_monthly", f.accountOf("ana")))
			case 2:
				f.sell(token, sub("gold_monthly", f.accountOf("ben")))
			}
		}
		results, m, err := f.Restore(t.Context(), "ana", tokens)
		if err != nil || len(results) != maxRestore || m.Package == nil || m.Package.ID != gold {
			t.Fatalf("%d results, %+v, %v", len(results), m, err)
		}
		for i, r := range results {
			wantCode(t, r.Err, []string{"", "", "owned_by_other_user", ""}[i%4])
			if queued := i%4 == 3; (r.Outcome.Result == ResultQueued) != queued {
				t.Errorf("%d is %s", i, r.Outcome.Result)
			}
			expect.Equalf(t, r.TokenSHA256, sha256Hex(tokens[i]), "%d is named", i)
		}
		_, _, err = f.Restore(t.Context(), "ana", append(tokens, "one-more"))
		wantCode(t, err, "invalid_request")
	})
}

func TestTheDatabaseHoldsNoToken(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		s := sub("gold_monthly", f.accountOf("ana"))
		s.LinkedToken, s.OutOfApp = "SECRET-linked", &play.OutOfApp{ExpiredToken: "SECRET-expired"}
		f.sell("SECRET-token", s)
		must.Get(f.Verify(t.Context(), "ana", "SECRET-token", ""))(t)
		must.Do(t, f.Receive(t.Context(), notification("m1", 2, "SECRET-token"), []byte(`{}`)))
		for table, columns := range map[string]string{
			"purchases":        "name, user_id, token_digest, linked_digest, sealed, account_id, pending_order",
			"purchase_items":   "product_id, order_id, offer_id",
			"purchase_history": "cause, order_id, detail",
			"inbox":            "message_id, result, token_digest, sealed",
		} {
			text, err := dump(t.Context(), f, table, columns)
			if err != nil || text == "" || strings.Contains(text, "SECRET") {
				t.Errorf("%s: %q, %v", table, text, err)
			}
		}
		for id, task := range f.tasks {
			if strings.Contains(fmt.Sprint(id, task.Payload), "SECRET") {
				t.Errorf("the task %s", id)
			}
		}
	})
}

// dump prints columns of a table.
func dump(ctx context.Context, f *fixture, table, columns string) (string, error) {
	list, err := sqldb.List(ctx, f.db.Queries, func(r sqldb.Row) (string, error) {
		values := make([]any, strings.Count(columns, ",")+1)
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		err := r.Scan(into...)
		return fmt.Sprintf("%s", values), err
	}, `SELECT `+columns+` FROM `+table)
	return strings.Join(list, "\n"), err
}
