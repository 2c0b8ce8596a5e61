package pages_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/must"
)

// serviceAccount is a right service-account file.
func serviceAccount() []byte {
	return addontest.ServiceAccount(map[string]any{"project_id": "site-example", "client_email": "play@site-example.iam.gserviceaccount.com"})
}

// fillIn creates a site as an owner has it after a while, with changes that wait.
func (s *site) fillIn(t *testing.T) {
	t.Helper()
	s.mustPackage(t, 1, "Silver", true)
	s.mustPackage(t, 2, "Gold", true)
	s.mustPackage(t, 7, "Member", false)
	s.clock.Move(time.Hour)
	s.mustSet(t, settings.KeyAppName, "Rain", settings.KeyIDPAndroidClientID, "1234567890-ghijkl.apps.idp.example", settings.KeyMessengerURLScheme, "rainchat", settings.KeyMessengerDomain, "chat.site.example")
	s.mustPublish(t, "First settings")
	s.clock.Move(26 * time.Hour)
	must.Get(s.Settings.SetServiceAccount(t.Context(), operator, 0, serviceAccount()))(t)
	s.mustSet(t, iap.KeyEnabled, "1", iap.KeyPackageName, "com.example.rain", iap.KeyProductMap, `{"store":{"gold_monthly":2,"gold_yearly":2}}`)
	s.mustPublish(t, "In-app purchases for gold members")
	s.clock.Move(time.Hour)
	must.Get(s.Settings.AddKey(t.Context(), operator, settings.Edit{}, "betaBanner", settings.TypeBool, "true"))(t)
	must.Get(s.Settings.AddKey(t.Context(), operator, settings.Edit{}, "supportUrl", settings.TypeText, "https://site.example/help"))(t)
	s.mustSet(t, settings.KeyAppName, "Rain & Thunder", settings.KeyPushEnabled, "1", settings.KeyPushAppID, "b2f7f966-d8cc-11e4-bed1-df8f05be55ba")
	if _, _, err := s.Credentials.Create(t.Context(), operator, "Shop server"); err != nil {
		t.Fatal(err)
	}
	must.Get(s.Credentials.SetActive(t.Context(), operator, 2, credential.HalfSecret, false))(t)
	s.mustLicense(t, newLicenseStore(t), "site.example", "localhost")
	must.Get(s.Members.AddGrant(t.Context(), operator, "user-1", 2, time.Time{}, "Prize"))(t)
	addontest.Execute(t, s.at, `INSERT INTO purchases (name, platform, token_digest, sealed, retires, user_id, transferred, environment, application, state, status, status_since,
			access, unverified, started_at, expires_at, canceled_by, region, account_id, pending_order, acknowledged, reads, read_at, created_at)
		VALUES ('pur_1', 'store', '', '', false, 'user-1', false, 'production', 'com.example.rain', 'ACTIVE', 'active', '2026-11-01T12:00:00Z',
			true, false, '2026-11-01T12:00:00Z', '2026-12-01T12:00:00Z', '', 'DE', '', '', true, 1, '2026-11-01T12:00:00Z', '2026-11-01T12:00:00Z')`,
		`INSERT INTO purchase_items (purchase_id, position, product_id, base_plan_id, offer_id, phase, order_id, expires_at, package_id, counts, prepaid, will_renew, action, deferred, currency, price)
		VALUES (1, 0, 'gold_monthly', 'monthly', '', 'base', 'GPA.1', '2026-12-01T12:00:00Z', 2, true, false, true, '', '', 'EUR', '4.99')`)
	if _, _, err := s.Events.AddWebhook(t.Context(), operator, "https://site.example/hooks", nil); err != nil {
		t.Fatal(err)
	}
	must.Get(s.Events.Ping(t.Context(), operator, 1))(t)
}
