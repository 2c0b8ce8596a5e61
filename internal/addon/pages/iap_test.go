package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/webtest"
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
		b.Fill(iapPath, iapPath, "iapEnabled", "1", "iapStorePackageName", "com.example.rain", "product.0", "gold_monthly", "package.0", "2", "do", "row").LeadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyEnabled, "1")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":2}}`)
		b.Fill(iapPath, iapPath, "product.1", "silver_monthly", "package.1", "1").LeadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":2,"silver_monthly":1}}`)
		b.Fill(iapPath, iapPath, "package.0", "1").LeadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{"gold_monthly":1,"silver_monthly":1}}`)
		b.Fill(iapPath, iapPath, "do", "remove:0", "iapStorePackageName", "com.example.hail").LeadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"silver_monthly":1}}`)
		s.wantValue(t, iap.KeyPackageName, "com.example.hail")
		b.Fill(iapPath, iapPath, "product.0", "", "package.0", "").LeadsTo(iapPath)
		s.wantValue(t, iap.KeyProductMap, `{"store":{}}`)
		b.Fill(iapPath, iapPath, "do", "account").LeadsTo(accountPath)
		b.Fill(iapPath, iapPath, "do", "products").LeadsTo(productsPath)
		b.Fill(iapPath, iapPath, "do", "publish").LeadsTo(iapPath + "/publish")
		b.Get(iapPath).Says(`"enabled": true`, `"package_name": "com.example.hail"`)
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
		{[]string{"product.0", "gold_monthly"}, "package.0", "Choose the package that gold_monthly activates."},
		{[]string{"package.0", "1"}, "product.0", "Type the product ID, or remove the row."},
		{[]string{"product.0", "Gold", "package.0", "1"}, "product.0", "has capital letters"},
		{[]string{"product.0", "a b", "package.0", "1"}, "product.0", "invalid product id"},
		{[]string{"product.0", "gold", "package.0", "9"}, "package.0", "is mapped to package 9, which does not exist"},
		{[]string{"product.0", "gold", "package.0", "gold"}, "product.0", "must be a positive whole number"},
		{[]string{"product.0", "gold", "package.0", "1", "product.1", "gold", "package.1", "1"}, "product.1", "occurs twice"},
		{[]string{"product.0", "gold", "package.0", "1", "product.1", "Silver", "package.1", "1"}, "product.1", "has capital letters"},
	} {
		p := b.Fill(iapPath, iapPath, append(tt.form, "iapEnabled", "1")...).Status(http.StatusUnprocessableEntity)
		p.Wrong(tt.field, tt.says)
		if tt.form[0] == "product.0" && p.Value("product.0") != tt.form[1] {
			t.Errorf("%q: what was typed is lost", tt.form)
		}
		if !webtest.Has(p.Having("id", "field-iapEnabled")[0], "checked") {
			t.Errorf("%q: the switch is lost", tt.form)
		}
	}
	s.wantAudits(t, before)
}

func TestSettingsOfVerificationAreSavedWithTheForm(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(iapPath).Says("Store notifications", "Test purchases", "Owners of purchases")
		b.Fill(
			iapPath, iapPath, "iapPushServiceAccount", "push@project.iam.gserviceaccount.com", "iapPushAudience", "https://site.example/push",
			"iapPullSubscription", " projects/tuneful/subscriptions/play", "iapTestPurchases", "allowlist", "iapTestUsers", "7,12", "iapClaimPolicy", "strict", "iapTransferPolicy", "transfer", "iapUnknownAccountPolicy", "first_verified",
		).LeadsTo(iapPath)
		for key, want := range map[string]string{
			iap.KeyPushServiceAccount: "push@project.iam.gserviceaccount.com", iap.KeyPushAudience: "https://site.example/push",
			iap.KeyPullSubscription: "projects/tuneful/subscriptions/play",
			iap.KeyTestPurchases:    "allowlist", iap.KeyTestUsers: "7, 12", iap.KeyClaimPolicy: "strict", iap.KeyTransferPolicy: "transfer", iap.KeyUnknownPolicy: "first_verified",
		} {
			s.wantValue(t, key, want)
		}
		p := b.Fill(iapPath, iapPath, "iapPushServiceAccount", "ada@mail.example").Status(http.StatusUnprocessableEntity)
		p.Wrong("iapPushServiceAccount", "not the address of a service account")
		s.wantValue(t, iap.KeyPushServiceAccount, "push@project.iam.gserviceaccount.com")
		b.Fill(iapPath, iapPath, "iapPullSubscription", "play").Status(http.StatusUnprocessableEntity).Wrong("iapPullSubscription", "the full name of the pull subscription")
	})
}

func TestIAPShowsThatTestModeIsOn(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	if strings.Contains(b.Get(iapPath).Text(), "Test mode is on") {
		t.Error("it is said while it is off")
	}
	b.Fill(iapPath, iapPath, "iapSandboxEnabled", "1").LeadsTo(iapPath)
	b.Get(iapPath).Says("Test mode is on", "marked as test mode")
}

func TestIAPEditedByTwoAtOnce(t *testing.T) {
	s := one(t)
	s.mustPackage(t, 1, "Silver", true)
	b := s.signedIn(t)
	mine := b.Get(iapPath).Form(iapPath)
	s.mustSet(t, iap.KeyProductMap, `{"store":{"hers":1}}`, iap.KeyPackageName, "com.example.hers")
	mine.Set("product.0", "mine")
	mine.Set("package.0", "1")
	p := b.PostForm(iapPath, mine).Status(http.StatusPreconditionFailed).Says("somebody else saved first", "hers activates package 1", "mine activates package 1", "com.example.hers")
	b.PostForm(iapPath, p.Form(iapPath)).LeadsTo(iapPath)
	s.wantValue(t, iap.KeyProductMap, `{"store":{"mine":1}}`)
}

func TestProductsAsJSON(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.mustPackage(t, 1, "Silver", true)
		b := s.signedIn(t)
		b.Fill(productsPath, productsPath, "iapProductMapJson", `{"store": {"silver_yearly": 1, "silver_monthly": 1}}`).LeadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{"silver_monthly":1,"silver_yearly":1}}`)
		for text, says := range map[string]string{
			"[]": "is not a JSON object", "{": "not valid JSON", `{"shop":{}}`: `The platform "shop" is not known`,
			`{"store":{"a":"1"}}`: "must be a positive whole number", `{"store":{"a":1,"a":1}}`: "occurs twice", `{"store":{"a":7}}`: "which does not exist",
		} {
			p := b.Fill(productsPath, productsPath, "iapProductMapJson", text).Status(http.StatusUnprocessableEntity).Wrong("iapProductMapJson", says)
			expect.Equalf(t, p.Form(productsPath).Get("iapProductMapJson"), text, "the field says")
		}
		b.Fill(productsPath, productsPath, "iapProductMapJson", "").LeadsTo(iapPath + "#g-products")
		s.wantValue(t, iap.KeyProductMap, `{"store":{}}`)
	})
}

func TestServiceAccountIsKeptAndNeverShown(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Fill(accountPath, accountPath, "json", string(serviceAccount())).LeadsTo(accountPath)
		p := b.Get(accountPath).Says("play@site-example.iam.gserviceaccount.com", "service_account", "site-example", "is in the draft, encrypted", "used from the next publish on")
		hidden := strings.Split(addontest.PrivateKey(addontest.Key()), "\n")[1:5]
		p.SilentAbout(hidden...)
		b.Upload(accountPath, serviceAccount(), "json", "", "do", "save", "revision", b.Revision(accountPath, accountPath)).LeadsTo(accountPath)
		b.Post(accountPath+"/test").Status(http.StatusOK).Says("Result", "the current service account", "Its private_key can be read").SilentAbout(hidden...)
		for _, path := range []string{accountPath, iapPath, iapPath + "/publish", "/api-addons/admin/preview/iap", "/api-addons/admin/audit", "/api-addons/admin/health"} {
			b.Get(path).SilentAbout(hidden...)
		}
		b.Get(accountPath + "/remove").Says("is removed from the draft")
		b.Post(accountPath + "/remove").Status(http.StatusUnprocessableEntity).Says("arrived incomplete")
		b.Fill(accountPath+"/remove", accountPath+"/remove").LeadsTo(accountPath)
		b.Get(accountPath).Says("Add the service account")
		b.Get(accountPath + "/remove").LeadsTo(accountPath)
		b.Post(accountPath+"/test").Status(http.StatusNotFound).Says("No service account in the draft", "Add the service account")
	})
}

func TestAServiceAccountThatSomebodyElseSetFirstIsNotOverwritten(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		mine := b.Get(accountPath).Form(accountPath)
		mine.Set("json", string(serviceAccount()))
		s.mustSet(t, iap.KeyServiceAccount, strings.Replace(string(serviceAccount()), "play@", "hers@", 1))
		before := s.audits(t)
		for _, p := range []*webtest.Page{
			b.PostForm(accountPath, mine),
			b.Upload(accountPath, serviceAccount(), "json", "", "do", "save", "revision", mine.Get("revision")),
		} {
			p.Status(http.StatusPreconditionFailed).SilentAbout(strings.Split(addontest.PrivateKey(addontest.Key()), "\n")[1:5]...)
			p.Says("Nothing was saved: somebody else saved first", "choose or paste it again", "Last changed by", "by command line", "hers@site-example.iam.gserviceaccount.com")
			expect.Equalf(t, p.Form(accountPath).Get("json"), "", "the file stands in the form again")
		}
		s.wantAudits(t, before)
		again := b.PostForm(accountPath, mine).Form(accountPath)
		again.Set("json", string(serviceAccount()))
		b.PostForm(accountPath, again).LeadsTo(accountPath)
		b.Get(accountPath).Says("play@site-example.iam.gserviceaccount.com")
	})
}

func TestAServiceAccountThatSomebodyElseReplacedIsNotRemoved(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, iap.KeyServiceAccount, string(serviceAccount()))
	mine := b.Get(accountPath + "/remove").Form(accountPath + "/remove")
	s.mustSet(t, iap.KeyServiceAccount, strings.Replace(string(serviceAccount()), "play@", "hers@", 1))
	before := s.audits(t)
	p := b.PostForm(accountPath+"/remove", mine).Status(http.StatusPreconditionFailed)
	p.Says("Nothing was removed: somebody else saved first", "Last changed by", "hers@site-example.iam.gserviceaccount.com")
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
		for _, p := range []*webtest.Page{b.Fill(accountPath, accountPath, "json", name, "do", "save"), b.Upload(accountPath, []byte(name), "json", "", "do", "save", "revision", b.Revision(accountPath, accountPath))} {
			p.Status(http.StatusUnprocessableEntity).Wrong("json", says).Says("Result").SilentAbout("hunter22")
			expect.Equalf(t, p.Form(accountPath).Get("json"), "", "the file stands in the form again")
		}
		b.Fill(accountPath, accountPath, "json", name, "do", "check").Status(http.StatusOK).Says(says)
	}
	b.Post(accountPath, "json", "", "do", "save").Status(http.StatusUnprocessableEntity).Wrong("json", "Paste the content of the file, or choose the file.")
	b.Fill(accountPath, accountPath, "json", string(serviceAccount()), "do", "check").Status(http.StatusOK).Says("The key has a fingerprint", "Nothing was saved")
	s.wantAudits(t, before)
}

func TestAnOwnerWhoDoesNotSellCanSaySo(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Get("/api-addons/admin").Says("Remove this step")
	b.Get("/api-addons/admin/iap/decline").Says("The checklist no longer includes in-app purchases")
	b.Post("/api-addons/admin/iap/decline").LeadsTo("/api-addons/admin")
	b.Get("/api-addons/admin").Says("You don't sell in the app")
	p := b.Get(iapPath).Says("In-app purchases are not in the checklist")
	b.PostForm("/api-addons/admin/iap/decline", p.Form("/api-addons/admin/iap/decline")).LeadsTo(iapPath)
	b.Get("/api-addons/admin").Says("Remove this step")
}
