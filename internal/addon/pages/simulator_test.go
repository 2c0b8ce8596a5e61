package pages_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/webtest"
)

const simulatorPath = "/api-addons/admin/iap/simulator"

// inTestMode publishes two products in test mode.
func (s *site) inTestMode(t *testing.T) *webtest.Browser {
	t.Helper()
	s.mustPackage(t, 1, "Silver", true)
	s.mustPackage(t, 2, "Gold", true)
	s.mustSet(t, iap.KeyEnabled, "1", iap.KeySandboxEnabled, "1", iap.KeyProductMap, `{"store":{"silver_monthly":1,"gold_monthly":2}}`)
	s.mustPublish(t, "Test mode")
	return s.signedIn(t)
}

var simulatedPage = regexp.MustCompile(`^` + simulatorPath + `/[0-9a-f]{12}$`)

// bought buys as the user 42, and returns the address of the purchase's page.
func bought(t *testing.T, b *webtest.Browser) string {
	t.Helper()
	path := b.Fill(simulatorPath, simulatorPath, "user", "42", "product", "silver_monthly").Header.Get("Location")
	if !simulatedPage.MatchString(path) {
		t.Fatalf("a purchase leads to %q", path)
	}
	return path
}

func TestASimulatedPurchaseShowsWhatTheAppAndTheSiteReceive(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.inTestMode(t)
		b.Get(simulatorPath).Says("Test mode is on", "Silver (silver_monthly)", "Nothing was bought yet").SilentAbout("Remove all")
		path := bought(t, b)
		b.Get(path).Says("Bought silver_monthly as the user 42.", "POST /api-addons/iap/verify → 200", `"result": "created"`, "Your site: membership.activated", "Acknowledged Yes")
		b.Post(path, "act", "renew").LeadsTo(path)
		b.Get(path).Says("The subscription was renewed.", "GET /api-addons/iap/membership → 200", "Your site: membership.renewed")
		b.Post(path, "act", "decline").LeadsTo(path)
		b.Get(path).Says("Your site received no event", "Active, card declined", "Wait: a payment fails")
		b.Post(path, "act", "wait").LeadsTo(path)
		b.Post(path, "act", "wait").LeadsTo(path)
		b.Get(path).Says("The store's clock moved: the grace period begins.", "Your site: membership.grace_started", "Grace period")
		newer := b.Fill(path, path+"/replace", "product", "gold_monthly").Header.Get("Location")
		if newer == path || !simulatedPage.MatchString(newer) {
			t.Fatalf("the upgrade leads to %q", newer)
		}
		b.Get(newer).Says("gold_monthly replaces silver_monthly.", "Your site: membership.changed").SilentAbout("membership.expired")
		b.Get(path).Says("Replaced").SilentAbout("Last step")
		b.Post(newer, "act", "refund").LeadsTo(newer)
		b.Get(newer).Says("Your site: purchase.refunded", "Your site: membership.revoked", "This purchase has ended.")
		b.Get(simulatorPath).Says("gold_monthly", "silver_monthly", "Remove all")
		b.Get("/api-addons/admin/audit").Says("Bought in the simulated store", "Changed a purchase in the simulated store")
	})
}

func TestASimulatedProductThatIsBoughtOnce(t *testing.T) {
	s := one(t)
	b := s.inTestMode(t)
	s.mustSet(t, iap.KeyProductMap, `{"store":{"silver_monthly":1,"gold_pass":2}}`, iap.KeyOneTime, "gold_pass=30")
	s.mustPublish(t, "A pass")
	path := b.Fill(simulatorPath, simulatorPath, "user", "42", "product", "gold_pass").Header.Get("Location")
	b.Get(path).Says("Bought once", `"one_time": true`, "Your site: membership.activated").SilentAbout("Upgrade or downgrade", "Decline the card")
	b.Get(bought(t, b)).SilentAbout("Gold (gold_pass)") // it does not replace the subscription
	b.Post(path, "act", "expire").LeadsTo(path)
	b.Get(path).Says("Its paid time has ended.", "Your site: membership.changed")
}

func TestTheSimulatedStoreIsCleared(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.inTestMode(t)
		path := bought(t, b)
		b.Get(simulatorPath + "/clear").Says("Every simulated purchase is removed")
		b.Post(simulatorPath + "/clear").LeadsTo(simulatorPath)
		b.Get(simulatorPath).Says("All simulated purchases were removed.", "Nothing was bought yet")
		b.Get(path).Status(http.StatusNotFound)
		read, err := s.Members.MembershipFor(t.Context(), operator, "42")
		if err != nil || read.Membership.Active {
			t.Errorf("the membership after that: %+v, %v", read.Membership, err)
		}
	})
}

func TestWhatIsNotPossibleInTheSimulatedStoreIsExplained(t *testing.T) {
	s := one(t)
	b := s.inTestMode(t)
	b.Fill(simulatorPath, simulatorPath, "user", " ").Status(http.StatusUnprocessableEntity).Wrong("user", "Type the ID")
	b.Fill(simulatorPath, simulatorPath, "user", "42", "product", "silver_monthly", "plan", "weekly").Status(http.StatusUnprocessableEntity).Wrong("plan", "Use monthly, yearly, prepaid")
	b.Fill(simulatorPath, simulatorPath, "user", "42", "product", "platinum").Status(http.StatusUnprocessableEntity).Says("not mapped to a package")
	prepaid := b.Fill(simulatorPath, simulatorPath, "user", "43", "product", "silver_monthly", "plan", "prepaid").Header.Get("Location")
	b.Get(prepaid).Says("Base plan prepaid", "Wait: it expires")
	path := bought(t, b)
	b.Post(path, "act", "recover").Status(http.StatusConflict).Says("Nothing was done", "Not possible in the present state of the purchase")
	b.Post(path, "act", "steal").Status(http.StatusUnprocessableEntity).Says("Nothing was done")
	b.Post(path+"/replace", "product", "").Status(http.StatusUnprocessableEntity).Says("Choose a product.")
	b.Get(simulatorPath + "/0a0b0c0d0e0f").Status(http.StatusNotFound)
	b.Send("GET", path, nil, "Accept", "application/json").Status(http.StatusNotAcceptable)
}

func TestWithoutTestModeTheSimulatedStoreLeadsToTheSettings(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Get(simulatorPath).Says("Test mode is off")
	b.Get(simulatorPath + "/0a0b0c0d0e0f").Says("Test mode is off")
	b.Post(simulatorPath+"/0a0b0c0d0e0f", "act", "renew").Status(http.StatusConflict).Says("Test mode is off")
	b.Post(simulatorPath, "user", "42", "product", "silver_monthly").Status(http.StatusConflict).Says("Test mode is off")
}
