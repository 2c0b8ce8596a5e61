package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
)

func TestDashboardLeadsToTheFirstStepThatIsLeft(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	p := b.get("/api-addons/admin").says("A few steps are left", "The update ran", "API key and secret are active", "Fill in app settings", "Version 1")
	if got := p.main(); got != appPath {
		t.Errorf("the main button leads to %q", got)
	}
	s.mustSet(t, "appName", "Rain")
	s.mustPublish(t, "")
	if got := b.get("/api-addons/admin").main(); got != iapPath {
		t.Errorf("the main button leads to %q", got)
	}
	if err := s.IAP.Decline(t.Context(), operator, true); err != nil {
		t.Fatal(err)
	}
	if got := b.get("/api-addons/admin").main(); got != licensePath {
		t.Errorf("the main button leads to %q", got)
	}
	s.mustLicense(t, newLicenseStore(t), "site.example")
	p = b.get("/api-addons/admin").says("All steps are done", "Version 2", "Nothing")
	if got := p.main(); got != appPath {
		t.Errorf("the main button leads to %q", got)
	}
	s.mustSet(t, "appName", "Hail")
	p = b.get("/api-addons/admin").says("1 change")
	if got := p.main(); got != appPath+"/publish" {
		t.Errorf("the main button leads to %q", got)
	}
	if _, err := s.SetCredentialActive(t.Context(), operator, 1, addon.HalfKey, false); err != nil {
		t.Fatal(err)
	}
	if got := b.get("/api-addons/admin").main(); got != apisPath {
		t.Errorf("the main button leads to %q", got)
	}
}

// main is where the button beside the heading leads.
func (p *page) main() string {
	p.t.Helper()
	for _, n := range p.all("a") {
		if strings.Contains(attr(n, "class"), "btn-primary") && inHead(n) {
			return attr(n, "href")
		}
	}
	return ""
}

func inHead(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if attr(n, "class") == "head" {
			return true
		}
	}
	return false
}

func TestDashboardSaysHowPurchasesStand(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.get("/api-addons/admin").says("Apps sell nothing.")
	s.mustSet(t, iap.KeyEnabled, "1")
	s.mustPublish(t, "")
	b.get("/api-addons/admin").says("Not complete")
	s.fillIn(t)
	b = s.signedIn(t) // a day has passed
	b.get("/api-addons/admin").says("1 package on sale.")
	s.mustSet(t, iap.KeySandboxEnabled, "1")
	s.mustPublish(t, "")
	b.get("/api-addons/admin").says("Test mode")
}

func TestPreviewShowsNowAndNextByPlatform(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		p := b.get("/api-addons/admin/preview").says("After the next publish", `"appName": "Rain & Thunder"`, `"appName": "Rain"`, `"idpIosClientId"`, `"idpAndroidClientId"`)
		if images := p.all("img"); len(images) != 1 || !strings.HasPrefix(attr(images[0], "src"), "data:image/png;base64,") || attr(images[0], "alt") == "" {
			t.Error("there is no QR code")
		}
		if got := p.value("address"); got != s.server.URL+"/api-addons/app/settings" {
			t.Errorf("the address is %q", got)
		}
		b.get("/api-addons/admin/preview/ios").says(`"idpIosClientId"`).silentAbout("idpAndroidClientId", "messengerAndroidPackageId")
		b.get("/api-addons/admin/preview/android").says(`"idpAndroidClientId"`, `"messengerAndroidPackageId"`).silentAbout("idpIosClientId")
		if got := b.get("/api-addons/admin/preview/iap").says(`"store_product_ids"`).value("address"); got != s.server.URL+"/api-addons/iap/config" {
			t.Errorf("the address is %q", got)
		}
		s.mustPublish(t, "")
		b.get("/api-addons/admin/preview").says("and after the next publish")
	})
}

func TestHealthShowsTheFindingsInGroups(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.get("/api-addons/admin/health").status(http.StatusOK).says("Passed", "There is an administrator", "Apps receive version 1", "Report")
		if _, err := s.SetCredentialActive(t.Context(), operator, 1, addon.HalfBoth, false); err != nil {
			t.Fatal(err)
		}
		b.get("/api-addons/admin/health").says("Critical", "Inactive: 1 (First pair)", "countersign addon api activate")
	})
}

func TestAuditLogIsNarrowed(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		b.get("/api-addons/admin/audit").says("Signed in", "Published the settings", "Added a package", "Rain & Thunder", "127.0.0.1", "command line")
		b.get("/api-addons/admin/audit?about=package").says("Added a package", "Show everything").silentAbout("Published the settings")
		b.get("/api-addons/admin/audit?who=ada@site.example").says("Signed in").silentAbout("Added a package")
		b.get("/api-addons/admin/audit?who=nobody").says("No line")
		b.get("/api-addons/admin/audit?about=%00&who=%ff").status(http.StatusBadRequest)
	})
}

func TestEveryActionOfTheLogHasWords(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	for _, n := range b.get("/api-addons/admin/audit").all("td") {
		if text := textOf(n); strings.Contains(text, "settings.") || strings.Contains(text, "credential.") || strings.Contains(text, "user.") || strings.Contains(text, "addon.") {
			t.Errorf("no words for %q", text)
		}
	}
}
