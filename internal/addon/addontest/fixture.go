package addontest

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// DefaultsServed is what apps receive right after the first update: every key of spec 2.5, ids as
// strings, the switch as a boolean.
const DefaultsServed = `{"appName":"My app","idpIosClientId":"","idpAndroidClientId":"","pushEnabled":false,"pushAppId":"",` +
	`"pushTimelineAppId":"","streamAppId":"","messengerUrlScheme":"","messengerAndroidPackageId":"","messengerDomain":""}`

// MustUpdate runs an update.
func (f *Fixture) MustUpdate(t testing.TB) setup.Report {
	t.Helper()
	report := must.Get(f.Setup.Update(t.Context(), Operator, nil))(t)
	return report
}

// MustSet changes the draft.
func (f *Fixture) MustSet(t testing.TB, changes map[string]string) settings.Draft {
	t.Helper()
	s := must.Get(f.Settings.Set(t.Context(), Operator, settings.Edit{}, changes))(t)
	return s
}

// MustPublish publishes the draft.
func (f *Fixture) MustPublish(t testing.TB, note string) settings.Publication {
	t.Helper()
	p := must.Get(f.Settings.Publish(t.Context(), Operator, 0, note))(t)
	return p
}

// MustPackage adds a package.
func (f *Fixture) MustPackage(t testing.TB, id int64, name string, paid bool) {
	t.Helper()
	must.Do(t, f.IAP.AddPackage(t.Context(), Operator, iap.Package{ID: id, Name: name, Rank: id, Paid: paid}))
}

// Draft is the draft of the settings.
func (f *Fixture) Draft(t testing.TB) settings.Draft {
	t.Helper()
	s := must.Get(f.Settings.Draft(t.Context(), Operator))(t)
	return s
}

// Value is a setting of the draft.
func (f *Fixture) Value(t testing.TB, key string) string {
	t.Helper()
	one, there := f.Draft(t).Get(key)
	if !there {
		t.Fatalf("no setting %s", key)
	}
	return one.Value
}

// Served is what apps are served of the settings.
func (f *Fixture) Served(t testing.TB) *settings.Published {
	t.Helper()
	p := must.Get(f.Settings.Published(t.Context()))(t)
	return p
}

// View is what apps are served about in-app purchases.
func (f *Fixture) View(t testing.TB) *iap.Published {
	t.Helper()
	p := must.Get(f.IAP.Published(t.Context()))(t)
	return p
}

// Audits lists the audit log, oldest first: action, subject, before -> after.
func (f *Fixture) Audits(t testing.TB) []string {
	t.Helper()
	lines := must.Get(f.Instance.Audit.Audit(t.Context(), Operator, people.AuditFilter{Limit: 500}))(t)
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[len(lines)-1-i] = fmt.Sprintf("%s %s %s [%s]: %s -> %s", l.Actor, l.Action, l.Subject, l.FrontEnd, l.Before, l.After)
	}
	return texts
}

// Everything is all text of the database, for tests that look for secrets.
func (f *Fixture) Everything(t testing.TB) string {
	t.Helper()
	db := openDatabase(t, f.At)
	defer db.Close()
	var all strings.Builder
	for _, table := range []string{"settings", "versions", "audit", "meta", "definitions"} {
		query := `SELECT CAST(t AS text) FROM ` + table + ` t`
		if f.At.Engine == dbtest.SQLite {
			query = map[string]string{
				"settings":    `SELECT name || kind || value FROM settings`,
				"versions":    `SELECT note || settings || body FROM versions`,
				"audit":       `SELECT action || subject || detail || before || after FROM audit`,
				"meta":        `SELECT name || value FROM meta WHERE name <> 'commits'`,
				"definitions": `SELECT name || fallback FROM definitions`,
			}[table]
		}
		list := must.Get(sqldb.List(t.Context(), db.Queries(), sqldb.Value[string], query))(t)
		all.WriteString(strings.Join(list, "\n"))
	}
	return all.String()
}

// Execute changes the database of an addon as no rule does.
func Execute(t testing.TB, at dbtest.DB, statements ...string) {
	t.Helper()
	db := openDatabase(t, at)
	defer db.Close()
	for _, s := range statements {
		must.Get(db.Queries().Exec(t.Context(), s))(t)
	}
}

// AddPurchase writes a purchase as it is after a verification.
func AddPurchase(t testing.TB, at dbtest.DB, p addondb.Purchase) {
	t.Helper()
	p.Name = strings.ToLower(rand.Text())
	p.TokenDigest = []byte(p.Name)
	for _, at := range []*sqldb.Time{&p.StatusSince, &p.StartedAt, &p.ReadAt, &p.CreatedAt} {
		at.Time = Noon
	}
	must.Do(t, Database(t, at).Tx(t.Context(), func(tx *addondb.DB) error {
		_, err := tx.AddPurchase(t.Context(), p)
		return err
	}))
}

// Forget takes a setting out of everything, as if this build had brought it.
func (f *Fixture) Forget(t testing.TB, key string) {
	t.Helper()
	database := openDatabase(t, f.At)
	defer database.Close()
	db := addondb.New(database)
	last := must.Get(db.LastVersion(t.Context()))(t)
	last.Settings.V = slices.DeleteFunc(last.Settings.V, func(s addondb.Setting) bool { return s.Name == key })
	settings := must.Get(last.Settings.Value())(t)
	for query, args := range map[string][]any{
		`DELETE FROM definitions WHERE name = $1`:             {key},
		`DELETE FROM settings WHERE name = $1`:                {key},
		`UPDATE versions SET settings = $1 WHERE number = $2`: {settings, last.Number},
	} {
		must.Get(db.Exec(t.Context(), query, args...))(t)
	}
}

// Outdate takes an addon back to the tables that it had before the last steps of this build.
func Outdate(t testing.TB, at dbtest.DB) {
	t.Helper()
	statements := []string{`DELETE FROM addon_versions WHERE version_id > 1`}
	for _, table := range []string{
		"simulator", "numbers", "plans", "orders", "alerts", "inbox", "grants", "memberships", "purchase_history", "purchase_items", "owner_claims", "purchases", "token_successors", "queued_verifications", "identities",
		"requests", "licenses", "event_head", "events", "webhooks", "deliveries", "delivery_attempts", "purchase_codes", "nonces",
	} {
		statements = append(statements, `DROP TABLE `+table)
	}
	Execute(t, at, statements...)
}
