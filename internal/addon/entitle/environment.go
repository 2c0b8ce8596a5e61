package entitle

import (
	"slices"

	"github.com/countersign/countersign/internal/play"
)

// Environment is where a purchase was made. Only those of production are revenue.
type Environment string

// The environments (1.6).
const (
	Production Environment = "production"
	Test       Environment = "test"      // a license tester's, in the real store
	Simulated  Environment = "simulated" // in the built-in store
)

// EnvironmentOf returns the environment of a subscription. simulated reports that the built-in store answered.
func EnvironmentOf(s play.Subscription, simulated bool) Environment {
	switch {
	case simulated:
		return Simulated
	case s.Test:
		return Test
	}
	return Production
}

// TestPolicy is who may use license testers' purchases: the setting iapTestPurchases (1.6).
type TestPolicy string

// The policies for test purchases.
const (
	TestAllow     TestPolicy = "allow"     // everybody whom the store lets make them
	TestAllowlist TestPolicy = "allowlist" // some users
	TestDeny      TestPolicy = "deny"
)

// TestPurchases is the policy and the users of [TestAllowlist]. The zero TestPurchases allows none.
type TestPurchases struct {
	Policy TestPolicy
	Users  []string
}

// Allows reports whether a user may use a purchase of an environment. Purchases in the built-in store are allowed
// while it is switched on, which is the only time at which it answers.
func (t TestPurchases) Allows(e Environment, user string) bool {
	switch {
	case e != Test, t.Policy == TestAllow:
		return true
	case t.Policy == TestAllowlist:
		return slices.Contains(t.Users, user)
	}
	return false
}
