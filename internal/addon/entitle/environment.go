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

// TestRule is who may use license testers' purchases (1.6).
type TestRule string

// The rules for test purchases. The zero rule is to allow.
const (
	AllowTests     TestRule = "allow"
	DenyTests      TestRule = "deny"
	AllowListTests TestRule = "allowlist"
)

// TestPurchases is a rule, and the ids of the users whom the allow list names.
type TestPurchases struct {
	Rule  TestRule
	Users []string
}

// Allows reports whether a user may use a purchase of an environment. Purchases in the built-in store are allowed
// while it is switched on, which is the only time at which it answers.
func (t TestPurchases) Allows(e Environment, user string) bool {
	if e != Test {
		return true
	}
	switch t.Rule {
	case AllowTests, "":
		return true
	case AllowListTests:
		return slices.Contains(t.Users, user)
	}
	return false
}
