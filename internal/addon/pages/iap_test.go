package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
)

const (
	iapPath      = "/api-addons/admin/iap/settings"
	accountPath  = iapPath + "/account"
	productsPath = iapPath + "/products"
)

func TestIAPSettingsAreSavedAsADraft(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.mustPackage(t, 1, "Silver", true)
		s.mustPackage(t, 2, "Gold", true)
		b := s.signedIn(t)
		b.fill(iapPath, iapPath, "iapEnabled", "1", "iapStorePackageName", "com.example.rain", "product.0", "gold_monthly", "package.0", "2", "do", "row").leadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyEnabled, "1")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":2}}`)
		b.fill(iapPath, iapPath, "product.1", "silver_monthly", "package.1", "1").leadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":2,"silver_monthly":1}}`)
		b.fill(iapPath, iapPath, "package.0", "1").leadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":1,"silver_monthly":1}}`)
		b.fill(iapPath, iapPath, "do", "remove:0", "iapStorePackageName", "com.example.hail").leadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"silver_monthly":1}}`)
		s.wantValue(t, iap.KeyPackageName, "com.example.hail")
		b.fill(iapPath, iapPath, "product.0", "", "package.0", "").leadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{}}`)
		b.fill(iapPath, iapPath, "do", "account").leadsTo(accountPath)
		b.fill(iapPath, iapPath, "do", "products").leadsTo(productsPath)
		b.fill(iapPath, iapPath, "do", "publish").leadsTo(iapPath + "/publish")
		b.get(iapPath).says(`"enabled": true`, `"package_name": "com.example.hail"`)
	})
}

func TestIAPSettingsThatAreWrongAreShownAgain(t *testing.T) {
	s := one(t)
	s.mustPackage(t, 1, "Silver", true)
	b := s.signedIn(t)
	before := s.audits(t)
	for _, tt := range []struct {
		form        []string
		field, says string
	}{
		{[]string{"iapStorePackageName", "example"}, "iapStorePackageName", "com.example.app"},
		{[]string{"product.0", "gold_monthly"}, "package.0", "Choose the package that gold_monthly gives."},
		{[]string{"package.0", "1"}, "product.0", "Type the product ID, or remove the row."},
		{[]string{"product.0", "Gold", "package.0", "1"}, "product.0", "has capital letters"},
		{[]string{"product.0", "a b", "package.0", "1"}, "product.0", "invalid product id"},
		{[]string{"product.0", "gold", "package.0", "9"}, "package.0", "gives package 9, which does not exist"},
		{[]string{"product.0", "gold", "package.0", "gold"}, "product.0", "must be a positive whole number"},
		{[]string{"product.0", "gold", "package.0", "1", "product.1", "gold", "package.1", "1"}, "product.1", "stands there twice"},
		{[]string{"product.0", "gold", "package.0", "1", "product.1", "Silver", "package.1", "1"}, "product.1", "has capital letters"},
	} {
		p := b.fill(iapPath, iapPath, append(tt.form, "iapEnabled", "1")...).status(http.StatusUnprocessableEntity)
		p.wrong(tt.field, tt.says)
		if tt.form[0] == "product.0" && p.value("product.0") != tt.form[1] {
			t.Errorf("%q: what was typed is lost", tt.form)
		}
		if !has(p.having("id", "field-iapEnabled")[0], "checked") {
			t.Errorf("%q: the switch is lost", tt.form)
		}
	}
	s.wantAudits(t, before)
}

func TestIAPShowsThatThePracticeStoreIsOn(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	if strings.Contains(b.get(iapPath).text(), "The practice store is on") {
		t.Error("it is said while it is off")
	}
	b.fill(iapPath, iapPath, "iapSandboxEnabled", "1").leadsTo(iapPath)
	b.get(iapPath).says("The practice store is on", "nobody pays")
}

func TestIAPEditedByTwoAtOnce(t *testing.T) {
	s := one(t)
	s.mustPackage(t, 1, "Silver", true)
	b := s.signedIn(t)
	mine := b.get(iapPath).form(iapPath)
	s.mustSet(t, iap.KeyProductMap, `{"store":{"hers":1}}`, iap.KeyPackageName, "com.example.hers")
	mine.Set("product.0", "mine")
	mine.Set("package.0", "1")
	p := b.postForm(iapPath, mine).status(http.StatusPreconditionFailed).says("somebody else saved first", "hers gives package 1", "mine gives package 1", "com.example.hers")
	b.postForm(iapPath, p.form(iapPath)).leadsTo(iapPath)
	s.wantValue(t, iap.KeyProductMap, `{"store":{"mine":1}}`)
}

func TestProductsAsJSON(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.mustPackage(t, 1, "Silver", true)
		b := s.signedIn(t)
		b.fill(productsPath, productsPath, "iapProductMapJson", `{"store": {"silver_yearly": 1, "silver_monthly": 1}}`).leadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"silver_monthly":1,"silver_yearly":1}}`)
		for text, says := range map[string]string{
			"[]": "is not a JSON object", "{": "not valid JSON", `{"shop":{}}`: `The platform "shop" is not known`,
			`{"store":{"a":"1"}}`: "must be a positive whole number", `{"store":{"a":1,"a":1}}`: "stands there twice", `{"store":{"a":7}}`: "which does not exist",
		} {
			p := b.fill(productsPath, productsPath, "iapProductMapJson", text).status(http.StatusUnprocessableEntity).wrong("iapProductMapJson", says)
			if got := p.form(productsPath).Get("iapProductMapJson"); got != text {
				t.Errorf("the field says %q, want %q", got, text)
			}
		}
		b.fill(productsPath, productsPath, "iapProductMapJson", "").leadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{}}`)
	})
}

func TestServiceAccountIsKeptAndNeverShown(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.fill(accountPath, accountPath, "json", string(serviceAccount())).leadsTo(accountPath)
		p := b.get(accountPath).says("play@site-example.iam.gserviceaccount.com", "service_account", "site-example", "is in the draft, encrypted", "used from the next publish on")
		hidden := strings.Split(privateKey(), "\n")[1:5]
		p.silentAbout(hidden...)
		b.upload(accountPath, serviceAccount(), "json", "", "do", "save", "revision", b.revision(accountPath, accountPath)).leadsTo(accountPath)
		b.post(accountPath+"/test").status(http.StatusOK).says("What was found", "the service account that is kept", "Its private_key can be read").silentAbout(hidden...)
		for _, path := range []string{accountPath, iapPath, iapPath + "/publish", "/api-addons/admin/preview/iap", "/api-addons/admin/audit", "/api-addons/admin/health"} {
			b.get(path).silentAbout(hidden...)
		}
		b.get(accountPath + "/remove").says("leaves the draft")
		b.post(accountPath + "/remove").status(http.StatusUnprocessableEntity).says("did not arrive whole")
		b.fill(accountPath+"/remove", accountPath+"/remove").leadsTo(accountPath)
		b.get(accountPath).says("Add the service account")
		b.get(accountPath + "/remove").leadsTo(accountPath)
		b.post(accountPath+"/test").status(http.StatusNotFound).says("No service account yet", "Add the service account")
	})
}

func TestAServiceAccountThatSomebodyElseSetFirstIsNotOverwritten(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		mine := b.get(accountPath).form(accountPath)
		mine.Set("json", string(serviceAccount()))
		s.mustSet(t, iap.KeyServiceAccount, strings.Replace(string(serviceAccount()), "play@", "hers@", 1))
		before := s.audits(t)
		for _, p := range []*page{
			b.postForm(accountPath, mine),
			b.upload(accountPath, serviceAccount(), "json", "", "do", "save", "revision", mine.Get("revision")),
		} {
			p.status(http.StatusPreconditionFailed).silentAbout(strings.Split(privateKey(), "\n")[1:5]...)
			p.says("Nothing was saved: somebody else saved first", "choose or paste it once more", "Last changed by", "by command line", "hers@site-example.iam.gserviceaccount.com")
			if p.form(accountPath).Get("json") != "" {
				t.Error("the file stands in the form again")
			}
		}
		s.wantAudits(t, before)
		again := b.postForm(accountPath, mine).form(accountPath)
		again.Set("json", string(serviceAccount()))
		b.postForm(accountPath, again).leadsTo(accountPath)
		b.get(accountPath).says("play@site-example.iam.gserviceaccount.com")
	})
}

func TestAServiceAccountThatSomebodyElseReplacedIsNotRemoved(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, iap.KeyServiceAccount, string(serviceAccount()))
	mine := b.get(accountPath + "/remove").form(accountPath + "/remove")
	s.mustSet(t, iap.KeyServiceAccount, strings.Replace(string(serviceAccount()), "play@", "hers@", 1))
	before := s.audits(t)
	p := b.postForm(accountPath+"/remove", mine).status(http.StatusPreconditionFailed)
	p.says("Nothing was removed: somebody else saved first", "Last changed by", "hers@site-example.iam.gserviceaccount.com")
	s.wantAudits(t, before)
}

func TestServiceAccountFilesThatAreWrongAreNamed(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	before := s.audits(t)
	for name, says := range map[string]string{
		`{"project_info":{},"client":[],"configuration_version":"1"}`:               "This is the mobile configuration file (google-services.json), not the service account",
		`{"installed":{"client_id":"x","client_secret":"hunter22"}}`:                "This is an OAuth client file, not the service account",
		`{"type":"service_account","client_email":"a@b.example"}`:                   "private_key is not usable: it is missing",
		`{"type":"authorized_user"}`:                                                "This is the sign-in of a person",
		`not JSON`:                                                                  "This is not valid JSON",
		`{"type":"service_account","client_email":"a@b.example","private_key":"x"}`: "private_key is not usable",
	} {
		for _, p := range []*page{b.fill(accountPath, accountPath, "json", name, "do", "save"), b.upload(accountPath, []byte(name), "json", "", "do", "save", "revision", b.revision(accountPath, accountPath))} {
			p.status(http.StatusUnprocessableEntity).wrong("json", says).says("What was found").silentAbout("hunter22")
			if got := p.form(accountPath).Get("json"); got != "" {
				t.Errorf("the file stands in the form again: %q", got)
			}
		}
		b.fill(accountPath, accountPath, "json", name, "do", "check").status(http.StatusOK).says(says)
	}
	b.post(accountPath, "json", "", "do", "save").status(http.StatusUnprocessableEntity).wrong("json", "Paste the content of the file, or choose the file.")
	b.fill(accountPath, accountPath, "json", string(serviceAccount()), "do", "check").status(http.StatusOK).says("The key has a fingerprint", "nothing was saved")
	s.wantAudits(t, before)
}

func TestAnOwnerWhoDoesNotSellCanSaySo(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.get("/api-addons/admin").says("Take it off the list")
	b.get("/api-addons/admin/iap/decline").says("The checklist stops asking")
	b.post("/api-addons/admin/iap/decline").leadsTo("/api-addons/admin")
	b.get("/api-addons/admin").says("You don't sell in the app")
	p := b.get(iapPath).says("You said that you don't sell in the app")
	b.postForm("/api-addons/admin/iap/decline", p.form("/api-addons/admin/iap/decline")).leadsTo(iapPath)
	b.get("/api-addons/admin").says("Take it off the list")
}
