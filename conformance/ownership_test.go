package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
)

// To whom a purchase belongs.
var ownershipCases = []conformance{
	{name: "a purchase with the caller's account id is the caller's", rule: "1.5 row 1", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		if v := s.verified("7", token); v.Result != "created" {
			s.t.Errorf("%v", v)
		}
		if v := s.verified("7", token); v.Result != "unchanged" {
			s.t.Errorf("again: %v", v)
		}
		s.wantEvents("activated 7")
	}},
	{name: "a purchase with another user's account id is refused, and the site is told", rule: "1.5 row 2", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.refused("8", token, 409, "owned_by_other_user")
		s.want("8", "none")
		s.verified("7", token)
		v := s.refused("8", token, 409, "owned_by_other_user")
		if text := fmt.Sprint(v.Purchase, v.Membership, v.header); strings.Contains(text, `"7"`) || v.Purchase != nil {
			s.t.Errorf("the answer shows the owner: %s", text)
		}
		s.wantEvents("purchase.theft_suspected 8", "activated 7")
	}},
	{name: "a purchase without an account id is the first caller's for good", rule: "1.5 row 3, first_claim", run: func(s *site) {
		token := s.buy("", purchase{product: gold})
		s.verified("7", token)
		s.refused("8", token, 409, "owned_by_other_user")
		s.want("7", "active Gold")
		s.want("8", "none")
	}},
	{name: "a purchase without an account id is refused under the policy strict", rule: "1.5 row 3, strict", run: func(s *site) {
		s.set(map[string]string{iap.KeyClaimPolicy: "strict"})
		token := s.buy("", purchase{product: gold})
		s.refused("7", token, 422, "account_binding_required")
		s.want("7", "none")
		s.bought("7", purchase{product: gold})
	}},
	{name: "a purchase without an account id stays with its owner", rule: "1.5 row 4, keep", run: func(s *site) {
		token := s.bought2("", "7")
		s.restored("8", token, "owned_by_other_user")
		s.want("7", "active Gold")
	}},
	{name: "it moves when its owner has no access from it, where the policy says so", rule: "1.5 row 4, transfer_if_inactive", run: func(s *site) {
		s.set(map[string]string{iap.KeyTransferPolicy: "transfer_if_inactive"})
		token := s.bought2("", "7")
		s.refused("8", token, 409, "owned_by_other_user")
		s.lapse("7", token, 10*day)
		s.want("7", "on_hold, fix_payment")
		s.verify("8", token)
		s.act(s.play.recover, token)
		s.deliver()
		s.want("8", "active Gold")
		s.want("7", "none")
	}},
	{name: "it moves when a user restores purchases, where the policy says so, and not back within a day", rule: "1.5 row 4, transfer", run: func(s *site) {
		s.set(map[string]string{iap.KeyTransferPolicy: "transfer"})
		token := s.bought2("", "7")
		s.refused("8", token, 409, "owned_by_other_user")
		s.restored("8", token, "updated")
		s.want("8", "active Gold")
		s.want("7", "none")
		s.restored("7", token, "owned_by_other_user")
		s.pass(25 * time.Hour)
		s.restored("7", token, "updated")
		s.wantEvents("activated 7", "transferred 7", "transferred 8", "transferred 7", "transferred 8")
	}},
	{name: "the site moves a purchase for good, also against its account id", rule: "6.3", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.transfer("7", "8")
		s.want("7", "none")
		s.want("8", "active Gold")
		s.refused("7", token, 409, "owned_by_other_user")
		s.renew("8", token)
		s.want("8", "active Gold")
	}},
	{name: "a transfer holds for what the buyer buys again in the store", rule: "1.5, 1.7", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.transfer("7", "8")
		s.act(s.play.expire, token)
		s.deliver()
		again, err := s.play.buyAgain(token) // its context has the account id of 7
		s.check(err)
		s.deliver()
		s.want("7", "none")
		s.want("8", "active Gold")
		s.refused("7", again, 409, "owned_by_other_user")
		if sent, want := s.front.acknowledgement(again).account, s.account("8"); sent != want {
			s.t.Errorf("acknowledged with the account id %q, want that of 8", sent)
		}
		s.verified("8", again)
	}},
	{name: "a transfer holds for an upgrade of the purchase, also against its account id", rule: "1.5, 1.7", run: func(s *site) {
		token := s.bought("7", purchase{product: silver})
		s.transfer("7", "8")
		next := s.buy("7", purchase{product: gold, replaces: token})
		s.refused("7", next, 409, "owned_by_other_user")
		s.deliver()
		s.want("7", "none")
		s.want("8", "active Gold")
	}},
	{name: "a purchase with another backend's account id is refused, where the policy says so", rule: "1.5, refuse", run: func(s *site) {
		s.set(map[string]string{iap.KeyUnknownPolicy: "refuse"})
		s.refused("7", s.foreign(), 409, "owned_by_other_user")
		s.want("7", "none")
		s.wantEvents("purchase.theft_suspected 7")
	}},
	{name: "a purchase with another backend's account id waits for the site, which accepts a user", rule: "1.5, ask", run: func(s *site) {
		token := s.foreign()
		for range 2 {
			if v := s.verify("7", token); v.String() != "202 queued" || v.Purchase != nil {
				s.t.Errorf("%v, %+v", v, v.Purchase)
			}
		}
		s.want("7", "pending")
		if s.front.tried(token) > 0 {
			s.t.Error("acknowledged without an owner")
		}
		s.verify("8", token)
		s.wantEvents("changed 7", "purchase.owner_unknown 7", "changed 8", "purchase.owner_unknown 8")
		s.decide("transfer", map[string]string{"to_user_id": "7", "reason": "the buyer"})
		s.work()
		s.want("7", "active Gold")
		s.want("8", "none")
		s.refused("8", token, 409, "owned_by_other_user")
		s.verified("7", token)
		s.wantEvents("activated 7", "changed 8")
	}},
	{name: "a purchase with another backend's account id waits for the site, which refuses a user", rule: "1.5, ask", run: func(s *site) {
		token := s.foreign()
		s.verify("7", token)
		if s.alerts() != "purchase_owner_unknown" {
			s.t.Errorf("alerts %q", s.alerts())
		}
		s.decide("refuse", map[string]string{"user_id": "7", "reason": "not the buyer"})
		s.want("7", "none")
		s.refused("7", token, 409, "owned_by_other_user")
		if s.alerts() != "" {
			s.t.Errorf("alerts %q", s.alerts())
		}
		s.front.acknowledge(s.t, gold, token) // the other backend
		s.renewForeign(token)
		s.want("7", "none")
	}},
	{name: "a purchase with another backend's account id is the first verified user's, where the policy says so", rule: "1.5, first_verified", run: func(s *site) {
		s.set(map[string]string{iap.KeyUnknownPolicy: "first_verified"})
		token := s.foreign()
		s.verified("7", token)
		s.refused("8", token, 409, "owned_by_other_user")
		s.set(map[string]string{iap.KeyUnknownPolicy: "refuse"})
		s.verified("7", token) // for good
		s.renew("7", token)
		s.want("7", "active Gold")
	}},
	{name: "subscribers of another backend are imported by token or order, once", rule: "1.5, 1.10", run: importTwo},
	{name: "a user is erased only when nothing renews, or by force, and then no notification brings the purchase back", rule: "6.3", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		var refusal struct{ Code string }
		if s.call(409, "DELETE", "iap/users/7", "", s.server(), &refusal); refusal.Code != "subscription_renews" {
			s.t.Errorf("refused with %q", refusal.Code)
		}
		s.want("7", "active Gold")
		s.call(200, "DELETE", "iap/users/7?force=1", "", s.server(), nil)
		s.now = s.now.Add(30 * day)
		s.play.move(s.now)
		s.clock.Move(30 * day)
		s.check(s.play.renew(token))
		s.deliver()
		s.want("7", "none")
		if list := s.purchases("7"); len(list) != 0 {
			s.t.Errorf("%+v", list)
		}
		s.wantEvents()
		s.refused("8", token, 409, "owned_by_other_user") // the store still has the account id of 7
	}},
	{name: "the purchase of an erased user that has no account id is the next caller's", rule: "1.5 row 3, 6.3", run: func(s *site) {
		token := s.buy("", purchase{product: gold})
		s.verified("7", token)
		s.call(200, "DELETE", "iap/users/7?force=1", "", s.server(), nil)
		if v := s.verified("8", token); v.Result != "created" {
			s.t.Errorf("%v", v)
		}
		s.want("8", "active Gold")
		s.want("7", "none")
	}},
	{name: "a user without a subscription that renews is erased at once", rule: "6.3", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.deliver()
		s.call(200, "DELETE", "iap/users/7", "", s.server(), nil)
		s.push(s.about("m1", 3, token))
		s.work()
		s.want("7", "none")
	}},
	{name: "the purchase of a user who is gone, but not erased, goes to nobody but by the site", rule: "6.3", run: func(s *site) {
		token := s.bought("7", purchase{product: gold}) // no user token is issued for 7 any more
		s.refused("8", token, 409, "owned_by_other_user")
		s.now = s.now.Add(day)
		s.play.move(s.now)
		s.clock.Move(day)
		s.act(s.play.cancel, token)
		s.deliver()
		s.transfer("7", "8")
		s.want("8", "active Gold, ends")
		s.pass(32 * day)
		s.want("8", "expired")
	}},
	{name: "two verifications at once create one purchase", rule: "1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		results := s.race(token, "7", "7")
		if len(s.purchases("7")) != 1 || results["409 owned_by_other_user"] != 0 {
			s.t.Errorf("%v, %+v", results, s.purchases("7"))
		}
		s.wantEvents("activated 7")
	}},
	{name: "of two users who verify one token at once, one owns it", rule: "1.5", run: func(s *site) {
		for range 5 {
			token := s.buy("", purchase{product: gold})
			results := s.race(token, "7", "8")
			if results["200 created"] != 1 || results["409 owned_by_other_user"] != 1 {
				s.t.Errorf("%v", results)
			}
		}
		if got := len(s.purchases("7")) + len(s.purchases("8")); got != 5 {
			s.t.Errorf("%d purchases", got)
		}
	}},
	{name: "a verification and a notification at once create one purchase", rule: "1.3, 1.8", run: func(s *site) {
		for range 5 {
			token := s.buy("7", purchase{product: gold})
			s.push(s.play.news()...)
			var both sync.WaitGroup
			both.Go(func() { s.report(s.RunDue(s.t.Context())) })
			both.Go(func() { _, err := s.tryVerify("7", token); s.report(err) })
			both.Wait()
			s.work()
			if s.front.acknowledgement(token).times == 0 {
				s.t.Error("not acknowledged")
			}
		}
		if list := s.purchases("7"); len(list) != 5 {
			s.t.Errorf("%+v", list)
		}
	}},
	{name: "twenty tokens are restored, each with its own result", rule: "6.4", run: restoreTwenty},
}

// bought2 buys for the account id of a user, or without one, and has another user verify it.
func (s *site) bought2(account, user string) string {
	s.t.Helper()
	token := s.buy(account, purchase{product: gold})
	s.verified(user, token)
	return token
}

// foreign buys with the account id of another backend.
func (s *site) foreign() string {
	s.t.Helper()
	token, err := s.play.buy(purchase{product: gold, account: "user-of-another-backend"})
	s.check(err)
	return token
}

// decide is the site's decision about the purchase that its last event names.
func (s *site) decide(action string, body map[string]string) {
	s.t.Helper()
	var feed countersign.IAPFeed
	s.call(200, "GET", "iap/events", "", s.server(), &feed)
	var last struct{ Purchase countersign.IAPPurchase }
	s.check(json.Unmarshal(feed.Events[len(feed.Events)-1].Event, &last))
	s.call(200, "POST", "iap/purchases/"+last.Purchase.ID+"/"+action, jsonText(body), s.server(), nil)
}

// renewForeign has a purchase renewed that nobody owns.
func (s *site) renewForeign(token string) {
	s.t.Helper()
	end := today.AddDate(0, 1, 0)
	s.now = end
	s.play.move(end)
	s.check(s.play.renew(token))
	s.clock.Move(end.Sub(s.clock.Now()))
	s.deliver()
}

// importTwo imports a list twice, first without writing.
func importTwo(s *site) {
	first, second := s.foreign(), s.foreign()
	list := []membership.Subscriber{{Line: 1, User: "7", Token: first}, {Line: 2, User: "8", OrderID: s.play.lastOrder(second)}, {Line: 3, User: "7", OrderID: "GPA.0000-0000-0000-00000"}}
	imports := func(dryRun bool, want string) {
		s.t.Helper()
		done, err := s.Members.ImportSubscribers(s.t.Context(), operator, list, membership.ImportOptions{DryRun: dryRun})
		s.check(err)
		if got := fmt.Sprintf("%d new, %d unchanged, %d unknown", done.New, done.Unchanged, done.Unknown); got != want {
			s.t.Errorf("%s, want %s: %+v", got, want, done)
		}
	}
	imports(true, "2 new, 0 unchanged, 1 unknown")
	s.want("7", "none")
	imports(false, "2 new, 0 unchanged, 1 unknown")
	imports(false, "0 new, 2 unchanged, 1 unknown")
	s.work()
	s.want("7", "active Gold")
	s.want("8", "active Gold")
	s.refused("8", first, 409, "owned_by_other_user")
	if got := slices.Sorted(slices.Values(s.events())); !slices.Equal(got, []string{"activated 7", "activated 8", "purchase.theft_suspected 8"}) {
		s.t.Errorf("events %q", got)
	}
}

// transfer moves the newest purchase of a user to another one.
func (s *site) transfer(from, to string) {
	s.t.Helper()
	body := jsonText(map[string]string{"to_user_id": to, "reason": "asked by the buyer"})
	s.call(200, "POST", "iap/purchases/"+s.purchases(from)[0].ID+"/transfer", body, s.server(), nil)
}

// restored restores one token, and compares what became of it: the result or the code.
func (s *site) restored(user, token, want string) {
	s.t.Helper()
	results := s.restore(user, token)
	if got := results[sumOf(token)]; got != want {
		s.t.Errorf("restored: %q, want %q", got, want)
	}
}

// restore restores tokens, and returns the results or codes by their digests.
func (s *site) restore(user string, tokens ...string) map[string]string {
	s.t.Helper()
	var done countersign.IAPRestore
	s.call(200, "POST", "iap/restore", jsonText(map[string][]string{"purchase_tokens": tokens}), s.app(user), &done)
	results := map[string]string{}
	for _, one := range done.Results {
		results[one.TokenSHA256] = one.Result
		if one.Error != nil {
			results[one.TokenSHA256] = one.Error.Code
		}
	}
	return results
}

func sumOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// report is check for other goroutines.
func (s *site) report(err error) {
	if err != nil {
		s.t.Error(err)
	}
}

// race has users verify a token at once, and counts the verdicts.
func (s *site) race(token string, users ...string) map[string]int {
	s.t.Helper()
	results := map[string]int{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, user := range users {
		all.Go(func() {
			v, err := s.tryVerify(user, token)
			s.report(err)
			mu.Lock()
			defer mu.Unlock()
			results[v.String()]++
		})
	}
	all.Wait()
	return results
}

func restoreTwenty(s *site) {
	want := map[string]string{}
	var tokens []string
	add := func(token, result string) {
		tokens = append(tokens, token)
		want[sumOf(token)] = result
	}
	for range 12 {
		add(s.buy("7", purchase{product: gold}), "created")
	}
	add(s.bought("7", purchase{product: silver}), "unchanged")
	add(s.buy("8", purchase{product: gold}), "owned_by_other_user")
	add(s.bought2("", "8"), "owned_by_other_user")
	add(s.buy("7", purchase{product: unmapped}), "product_not_mapped")
	add(s.buy("7", purchase{product: gold, pending: true}), "created")
	ended := s.buy("7", purchase{product: gold})
	s.act(s.play.expire, ended)
	add(ended, "created")
	add("a-token-that-nobody-was-given", "queued")
	add("not a token", "invalid_request")
	if len(tokens) != 20 {
		s.t.Fatalf("%d tokens", len(tokens))
	}
	results := s.restore("7", tokens...)
	for i, token := range tokens {
		if results[sumOf(token)] != want[sumOf(token)] {
			s.t.Errorf("token %d: %q, want %q", i+1, results[sumOf(token)], want[sumOf(token)])
		}
	}
	s.want("7", "active Gold")
	if v := s.verify("7", tokens[0]); v.status != http.StatusOK {
		s.t.Errorf("%v", v)
	}
}
