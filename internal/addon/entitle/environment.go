package entitle

import (
	"slices"
	"strings"

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

// TestPurchases is who may use license testers' purchases: the setting iapTestPurchases (1.6).
type TestPurchases struct {
	rule  string
	users []string
}

// The values of the setting. The last one is followed by user ids: "allowlist ana,ben".
const (
	testAllow     = "allow"
	testDeny      = "deny"
	testAllowlist = "allowlist"
)

// ParseTestPurchases reads the setting; "" is allow. Its problem is a sentence, "" for none.
func ParseTestPurchases(text string) (t TestPurchases, problem string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' || r == '\r' })
	if len(words) == 0 {
		return TestPurchases{rule: testAllow}, ""
	}
	t = TestPurchases{rule: words[0], users: words[1:]}
	switch {
	case t.rule == testAllowlist && len(t.users) == 0:
		return t, "List the user ids after allowlist, separated by commas"
	case t.rule == testAllowlist:
		return t, ""
	case (t.rule == testAllow || t.rule == testDeny) && len(t.users) == 0:
		return t, ""
	}
	return TestPurchases{rule: testDeny}, "Use allow, deny, or allowlist followed by user ids"
}

// Allows reports whether a user may use a purchase of an environment. Purchases in the built-in store are allowed
// while it is switched on, which is the only time at which it answers.
func (t TestPurchases) Allows(e Environment, user string) bool {
	if e != Test {
		return true
	}
	switch t.rule {
	case testAllow, "":
		return true
	case testAllowlist:
		return slices.Contains(t.users, user)
	}
	return false
}
