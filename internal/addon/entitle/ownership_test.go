package entitle

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
)

func TestToWhomAPurchaseBelongs(t *testing.T) {
	strict := Policy{Unbound: Strict}
	inactive, moves := Policy{Owned: TransferIfInactive}, Policy{Owned: Transfer}
	refuse, first := Policy{Unknown: RefuseUnknown}, Policy{Unbound: Strict, Unknown: FirstVerified}
	cases := []struct {
		name   string
		policy Policy
		claim  Claim
		want   Verdict
	}{
		{"the caller's account id, nobody owns it", Policy{}, Claim{Account: Caller}, Grant},
		{"the caller's account id, the caller owns it", Policy{}, Claim{Account: Caller, Owner: Caller}, Grant},
		{"the caller's account id is enough under strict", strict, Claim{Account: Caller}, Grant},
		{"the caller's account id overrules an owner without one", Policy{}, Claim{Account: Caller, Owner: Another, OwnerActive: true}, GrantTransfer},
		{"another user's account id", Policy{}, Claim{Account: Another}, RefuseTheft},
		{"another user's account id, that user owns it", Policy{}, Claim{Account: Another, Owner: Another}, RefuseTheft},
		{"another user's account id, the caller owns it", Policy{}, Claim{Account: Another, Owner: Caller}, RefuseTheft},
		{"another user's account id under transfer", moves, Claim{Account: Another, Owner: Another, Restoring: true}, RefuseTheft},
		{"no account id, nobody owns it: first claim", Policy{}, Claim{}, Grant},
		{"no account id, nobody owns it: strict", strict, Claim{}, RefuseUnbound},
		{"no account id, the caller owns it", Policy{}, Claim{Owner: Caller}, Grant},
		{"no account id, the caller owns it: strict", strict, Claim{Owner: Caller}, Grant},
		{"no account id, another user owns it: keep", Policy{}, Claim{Owner: Another}, RefuseOwned},
		{"no account id, another user owns it: keep, also when restoring", Policy{Owned: Keep}, Claim{Owner: Another, Restoring: true}, RefuseOwned},
		{"no account id, the owner has access: transfer if inactive", inactive, Claim{Owner: Another, OwnerActive: true}, RefuseOwned},
		{"no account id, the owner has no access: transfer if inactive", inactive, Claim{Owner: Another}, GrantTransfer},
		{"no account id, a verification is not explicit: transfer", moves, Claim{Owner: Another, OwnerActive: true}, RefuseOwned},
		{"no account id, restoring is explicit: transfer", moves, Claim{Owner: Another, OwnerActive: true, Restoring: true}, GrantTransfer},
		{"a second transfer has to wait", moves, Claim{Owner: Another, Restoring: true, TooSoon: true}, RefuseOwned},
		{"an unknown account id, nobody owns it: ask", Policy{}, Claim{Account: Unknown}, Ask},
		{"an unknown account id, nobody owns it: refuse", refuse, Claim{Account: Unknown}, RefuseTheft},
		{"an unknown account id, nobody owns it: first verified", first, Claim{Account: Unknown}, Grant},
		{"an unknown account id, nobody owns it: the site names the owner", Vouched, Claim{Account: Unknown}, Grant},
		{"an unknown account id, the caller owns it, also under refuse", refuse, Claim{Account: Unknown, Owner: Caller}, Grant},
		{"an unknown account id, another user owns it: first verified", first, Claim{Account: Unknown, Owner: Another}, RefuseTheft},
		{"an unknown account id never moves a purchase", Policy{Owned: Transfer, Unknown: FirstVerified}, Claim{Account: Unknown, Owner: Another, Restoring: true}, RefuseTheft},
		{"an unknown account id, moved by staff to the caller", refuse, Claim{Account: Unknown, Owner: Caller, Transferred: true}, Grant},
		{"another user's account id, when the site names the owner", Vouched, Claim{Account: Another}, RefuseTheft},
		{"no account id, when the site names the owner", Vouched, Claim{}, Grant},
		{"moved by staff to the caller, in spite of the account id", Policy{}, Claim{Account: Another, Owner: Caller, Transferred: true}, Grant},
		{"moved by staff away from the caller, in spite of the account id", moves, Claim{Account: Caller, Owner: Another, Transferred: true, Restoring: true}, RefuseOwned},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, c.policy.Decide(c.claim), c.want)
		})
	}
}

func TestAccountIDsAreShortAndOfOneUser(t *testing.T) {
	mac := func(key string) func([]byte) [32]byte {
		return func(message []byte) [32]byte {
			h := hmac.New(sha256.New, []byte(key))
			h.Write(message)
			return [32]byte(h.Sum(nil))
		}
	}
	ana := AccountID(mac("one"), "ana")
	if len(ana) != 43 || ana != AccountID(mac("one"), "ana") {
		t.Errorf("%q", ana)
	}
	if ana == AccountID(mac("one"), "ben") || ana == AccountID(mac("two"), "ana") {
		t.Error("two users or two sites share an account id")
	}
}

func TestWhoMayUseTestPurchases(t *testing.T) {
	cases := []struct {
		name        string
		rule        TestRule
		environment Environment
		user        string
		want        bool
	}{
		{"production is not concerned", DenyTests, Production, "ana", true},
		{"the built-in store is not concerned", DenyTests, Simulated, "ana", true},
		{"no rule allows", "", Test, "ana", true},
		{"allow", AllowTests, Test, "eva", true},
		{"deny", DenyTests, Test, "ana", false},
		{"in the allow list", AllowListTests, Test, "ana", true},
		{"not in the allow list", AllowListTests, Test, "eva", false},
		{"an unknown rule denies", "sometimes", Test, "ana", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, (TestPurchases{c.rule, []string{"ben", "ana"}}).Allows(c.environment, c.user), c.want)
		})
	}
}

func TestTheEnvironmentOfAPurchase(t *testing.T) {
	for _, c := range []struct {
		test, simulated bool
		want            Environment
	}{{false, false, Production}, {true, false, Test}, {false, true, Simulated}, {true, true, Simulated}} {
		expect.Equalf(t, EnvironmentOf(play.Subscription{Test: c.test}, c.simulated), c.want, "%+v", c)
	}
}
