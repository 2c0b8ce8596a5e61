package addon_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// found returns the finding with a name.
func found(t *testing.T, findings []health.Finding, name string) health.Finding {
	t.Helper()
	for _, f := range findings {
		if f.Name == name {
			if f.What == "" || (f.Level != health.OK && (f.Why == "" || f.Fix == "")) {
				t.Errorf("the finding says too little: %+v", f)
			}
			return f
		}
	}
	t.Errorf("nothing is said about %q: %+v", name, findings)
	return health.Finding{}
}

func TestDoctorOfAWholeAddon(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		must.Do(t, os.Chmod(f.At.Dir, 0o700))
		must.Get(f.Instance.People.CreateAdministrator(t.Context(), operator, "ana@site.example", "correct horse battery"))(t)
		before := f.Everything(t)
		findings := addontest.New(t, f.At, f.Clock).Doctor(t.Context())
		if slices.ContainsFunc(findings, func(f health.Finding) bool { return f.Level != health.OK && f.Name != "verified backup" }) {
			t.Errorf("%+v", findings)
		}
		for _, name := range []string{
			"data folder", "key file", "disk", "database", "tables", "backups", "update", "administrator", "API credentials", "app settings",
			"in-app purchases", "service account", "webhooks", "audit log",
		} {
			found(t, findings, name)
		}
		expect.Equalf(t, f.Everything(t), before, "the doctor changed something")
	})
}

func TestDoctorBeforeTheFirstUpdate(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		findings := addontest.New(t, at, dbtest.NewClock(noon)).Doctor(t.Context())
		tables := found(t, findings, "tables")
		if tables.Level != health.Warn || tables.Fix != "countersign addon update" {
			t.Errorf("%+v", tables)
		}
	})
}

func TestDoctorNamesWhatIsWrong(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(t *testing.T, f *addontest.Fixture)
		check string
		level health.Level
		says  string
	}{
		{"the folder is open to all", func(t *testing.T, f *addontest.Fixture) { chmod(t, f.At.Dir, 0o755) }, "data folder", health.Warn, "chmod 700"},
		{"the key file is open to all", func(t *testing.T, f *addontest.Fixture) { chmod(t, filepath.Join(f.At.Dir, "countersign.key"), 0o644) }, "key file", health.Fail, "chmod 600"},
		{"the key file is gone", func(t *testing.T, f *addontest.Fixture) {
			must.Do(t, os.Remove(filepath.Join(f.At.Dir, "countersign.key")))
		}, "set-up", health.Fail, "Restore the key file of this database from a backup"},
		{"the tables are of a later version", func(t *testing.T, f *addontest.Fixture) {
			addontest.Execute(t, f.At, `UPDATE addon_versions SET version_id = 99 WHERE version_id = 1`)
		}, "tables", health.Fail, "newer version"},
		{"an update is waiting", func(t *testing.T, f *addontest.Fixture) { f.Forget(t, settings.KeyAppName) }, "update", health.Warn, "countersign addon update"},
		{"no administrator", func(*testing.T, *addontest.Fixture) {}, "administrator", health.Warn, "countersign addon setup-link"},
		{"one half is inactive", func(t *testing.T, f *addontest.Fixture) { deactivate(t, f, credential.HalfSecret) }, "API credentials", health.Fail, "1 (First pair): secret"},
		{"the other half is inactive", func(t *testing.T, f *addontest.Fixture) { deactivate(t, f, credential.HalfKey) }, "API credentials", health.Fail, "1 (First pair): key"},
		{"both are inactive", func(t *testing.T, f *addontest.Fixture) { deactivate(t, f, credential.HalfBoth) }, "API credentials", health.Fail, "key and secret"},
		{"one of two pairs is inactive", func(t *testing.T, f *addontest.Fixture) {
			if _, _, err := f.Credentials.Create(t.Context(), operator, "second"); err != nil {
				t.Fatal(err)
			}
			deactivate(t, f, credential.HalfBoth)
		}, "API credentials", health.Warn, "Inactive: 1"},
		{"the draft can't be published", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{settings.KeyPushEnabled: "1"})
		}, "app settings", health.Warn, "push app ID is empty"},
		{"selling without a service account", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPackageName: "com.example.app"})
			f.MustPublish(t, "")
		}, "in-app purchases", health.Warn, "without a service account"},
		{"selling without the account of the push subscription", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPushAudience: "https://site.example"})
			f.MustPublish(t, "")
		}, "store notifications", health.Warn, "countersign addon iap set iapPushServiceAccount EMAIL"},
		{"selling without the audience of the push subscription", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPushServiceAccount: "push@project.iam.gserviceaccount.com"})
			f.MustPublish(t, "")
		}, "store notifications", health.Warn, "countersign addon iap set iapPushAudience AUDIENCE"},
		{"selling with both", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPushServiceAccount: "push@project.iam.gserviceaccount.com", iap.KeyPushAudience: "https://site.example"})
			f.MustPublish(t, "")
		}, "store notifications", health.OK, "accepted from push@project"},
		{"selling with a pull subscription alone", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPullSubscription: "projects/tuneful/subscriptions/play"})
			must.Get(f.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)))(t)
			f.MustPublish(t, "")
		}, "store notifications", health.OK, "pulled from projects/tuneful/subscriptions/play"},
		{"a pull subscription without a service account", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeyPullSubscription: "projects/tuneful/subscriptions/play"})
			f.MustPublish(t, "")
		}, "store notifications", health.Warn, "countersign addon iap service-account FILE"},
		{"in test mode, notifications are not missed", func(t *testing.T, f *addontest.Fixture) {
			f.MustSet(t, map[string]string{iap.KeyEnabled: "1", iap.KeySandboxEnabled: "1"})
			f.MustPublish(t, "")
		}, "store notifications", health.OK, "Test mode is on"},
		{"without selling, notifications are not missed", func(*testing.T, *addontest.Fixture) {}, "store notifications", health.OK, "off"},
		{"a service account that can't be opened", func(t *testing.T, f *addontest.Fixture) {
			must.Get(f.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)))(t)
			f.MustPublish(t, "")
			addontest.Execute(t, f.At, `UPDATE service_accounts SET sealed = key_sealed FROM credentials`)
		}, "service account", health.Fail, "can't be read"},
		{"an entry of the audit log was changed", func(t *testing.T, f *addontest.Fixture) {
			f.Instance.Chain.SealNow(t.Context())
			addontest.Execute(t, f.At, `UPDATE audit SET actor = 'eve' WHERE id = 1`)
		}, "audit log", health.Fail, "countersign addon audit verify"},
		{"the audit log waits for a server", func(t *testing.T, f *addontest.Fixture) { f.Clock.Move(2 * time.Minute) }, "audit log", health.Warn, "not sealed yet"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
				c.spoil(t, f)
				got := found(t, addontest.New(t, f.At, f.Clock).Doctor(t.Context()), c.check)
				if got.Level != c.level || !strings.Contains(got.What+got.Why+got.Fix, c.says) {
					t.Errorf("%+v, want %s and %q", got, c.level, c.says)
				}
			})
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must.Do(t, os.Chmod(path, mode))
}

func deactivate(t *testing.T, f *addontest.Fixture, half credential.Half) {
	t.Helper()
	must.Get(f.Credentials.SetActive(t.Context(), operator, 1, half, false))(t)
}

func TestDoctorWhenTheDatabaseIsDown(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, place)
	proxy.Cut()
	place.URL = proxy.URL
	findings := addontest.New(t, place, dbtest.NewClock(noon)).Doctor(t.Context())
	if got := found(t, findings, "database"); got.Level != health.Fail || strings.Contains(got.What, place.URL) {
		t.Errorf("%+v", got)
	}
	proxy.Restore()
}

// PostgreSQL goes and comes back: the addon is unavailable meanwhile, and serves
// again by itself.
func TestDatabaseThatGoesAndComesBack(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	addontest.Updated(t, place)
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = proxy.URL
	server := addontest.New(t, far, dbtest.NewClock(noon))
	server.Serve(t)
	live := feedLive(server)
	lost := make(chan struct{}, 8)
	server.Instance.Database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() { lost <- struct{}{} }, Live: func() {}})
	proxy.Cut()
	<-lost
	_, err := server.Settings.Published(t.Context())
	addontest.WantError(t, err, "unavailable")
	addontest.WantError(t, server.Instance.Ready(t.Context()), "unavailable")
	proxy.Restore()
	<-live
	if got := server.Served(t).Version; got != 1 {
		t.Errorf("version %d is served", got)
	}
}
