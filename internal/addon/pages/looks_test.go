package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

func TestDashboardLeadsToTheFirstStepThatIsLeft(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	p := b.Get("/api-addons/admin").Says("Complete these steps so that your app works.", "The update has run", "API credentials are active", "Fill in app settings", "Version 1")
	expect.Equalf(t, mainOf(p), appPath, "the main button leads to")
	s.mustSet(t, "appName", "Rain")
	s.mustPublish(t, "")
	expect.Equalf(t, mainOf(b.Get("/api-addons/admin")), iapPath, "the main button leads to")
	must.Do(t, s.IAP.Decline(t.Context(), operator, true))
	expect.Equalf(t, mainOf(b.Get("/api-addons/admin")), licensePath, "the main button leads to")
	s.mustLicense(t, newLicenseStore(t), "site.example")
	p = b.Get("/api-addons/admin").Says("All steps are complete.", "Version 2", "Nothing")
	expect.Equalf(t, mainOf(p), appPath, "the main button leads to")
	s.mustSet(t, "appName", "Hail")
	p = b.Get("/api-addons/admin").Says("1 change")
	expect.Equalf(t, mainOf(p), appPath+"/publish", "the main button leads to")
	must.Get(s.Credentials.SetActive(t.Context(), operator, 1, credential.HalfKey, false))(t)
	expect.Equalf(t, mainOf(b.Get("/api-addons/admin")), apisPath, "the main button leads to")
}

// mainOf is where the button beside the heading leads.
func mainOf(p *webtest.Page) string {
	p.T.Helper()
	for _, n := range p.All("a") {
		if strings.Contains(webtest.Attr(n, "class"), "btn-primary") && inHead(n) {
			return webtest.Attr(n, "href")
		}
	}
	return ""
}

func inHead(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Data == "header" {
			return true
		}
	}
	return false
}

func TestDashboardSaysHowPurchasesStand(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Get("/api-addons/admin").Says("The app offers no memberships.")
	s.mustSet(t, iap.KeyEnabled, "1")
	s.mustPublish(t, "")
	b.Get("/api-addons/admin").Says("Not complete")
	s.fillIn(t)
	b = s.signedIn(t) // a day has passed
	b.Get("/api-addons/admin").Says("1 package on sale.")
	s.mustSet(t, iap.KeySandboxEnabled, "1")
	s.mustPublish(t, "")
	b.Get("/api-addons/admin").Says("Test mode")
}

func TestEveryPageSaysThatTestModeIsOn(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for _, value := range []string{"1", "0"} {
		s.mustSet(t, iap.KeySandboxEnabled, value)
		s.mustPublish(t, "")
		if page := b.Get("/api-addons/admin/packages"); value == "1" {
			page.Says("The simulated store answers the app")
		} else {
			page.SilentAbout("The simulated store answers the app")
		}
	}
}

func TestPreviewShowsNowAndNextByPlatform(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		p := b.Get("/api-addons/admin/preview").Says("After the next publish", `"appName": "Rain & Thunder"`, `"appName": "Rain"`, `"idpIosClientId"`, `"idpAndroidClientId"`)
		if images := p.All("img"); len(images) != 1 || !strings.HasPrefix(webtest.Attr(images[0], "src"), "data:image/png;base64,") || webtest.Attr(images[0], "alt") == "" {
			t.Error("there is no QR code")
		}
		expect.Equalf(t, p.Value("address"), s.server.URL+"/api-addons/app/settings", "the address")
		b.Get("/api-addons/admin/preview/ios").Says(`"idpIosClientId"`).SilentAbout("idpAndroidClientId", "messengerAndroidPackageId")
		b.Get("/api-addons/admin/preview/android").Says(`"idpAndroidClientId"`, `"messengerAndroidPackageId"`).SilentAbout("idpIosClientId")
		expect.Equalf(t, b.Get("/api-addons/admin/preview/iap").Says(`"store_product_ids"`).Value("address"), s.server.URL+"/api-addons/iap/config", "the address")
		s.mustPublish(t, "")
		b.Get("/api-addons/admin/preview").Says("and after the next publish")
	})
}

func TestHealthShowsTheFindingsInGroups(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get("/api-addons/admin/health").Status(http.StatusOK).Says("Passed", "An administrator exists", "Apps receive version 1", "Report")
		must.Get(s.Credentials.SetActive(t.Context(), operator, 1, credential.HalfBoth, false))(t)
		b.Get("/api-addons/admin/health").Says("Critical", "Inactive: 1 (First pair)", "countersign addon api activate")
	})
}

func TestAuditLogIsNarrowed(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		b.Get("/api-addons/admin/audit").Says("Signed in", "Published the settings", "Added a package", "Rain & Thunder", "127.0.0.1", "command line")
		b.Get("/api-addons/admin/audit?about=package").Says("Added a package", "Show everything").SilentAbout("Published the settings")
		b.Get("/api-addons/admin/audit?who=ada@site.example").Says("Signed in").SilentAbout("Added a package")
		b.Get("/api-addons/admin/audit?who=nobody").Says("No matching entries")
		b.Get("/api-addons/admin/audit?about=%00&who=%ff").Status(http.StatusBadRequest)
	})
}

func TestEveryActionOfTheLogHasWords(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	for _, n := range b.Get("/api-addons/admin/audit").All("td") {
		if text := webtest.TextOf(n); strings.Contains(text, "settings.") || strings.Contains(text, "credential.") || strings.Contains(text, "user.") || strings.Contains(text, "addon.") {
			t.Errorf("no words for %q", text)
		}
	}
}
