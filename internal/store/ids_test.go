package store_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func execAll(ctx context.Context, tx *storedb.DB, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// withoutActivity makes the store one of the version before activity was counted.
func withoutActivity(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	statements := []string{`DROP TRIGGER licenses_issued`, `DROP TRIGGER download_links_used`}
	if f.At.Engine == dbtest.Postgres {
		statements = []string{`DROP FUNCTION countersign_count_licenses CASCADE`, `DROP FUNCTION countersign_count_download CASCADE`}
	}
	statements = append(statements, `DROP TABLE activity_days`, `DROP TABLE activity_totals`, `DROP TABLE activity_months`, `DROP TABLE refunded_parts`,
		`DROP INDEX items_without_picture`, `DROP INDEX media_of_workspace`, `DELETE FROM store_versions WHERE version_id >= 19`)
	must.Do(t, f.DB().Tx(t.Context(), func(tx *storedb.DB) error { return execAll(t.Context(), tx, statements) }))
}

// withoutIDs are the statements that bring the tables to those of the version before
// purchases had ids.
func withoutIDs(engine sqldb.Engine) []string {
	triggers := []string{`DROP TRIGGER purchases_sold`, `DROP TRIGGER purchases_unsold`, `DROP TRIGGER purchases_changed`, `DROP TRIGGER licenses_issued`, `DROP TRIGGER download_links_used`}
	if engine == sqldb.Postgres {
		triggers = []string{`DROP FUNCTION countersign_count_sales CASCADE`, `DROP FUNCTION countersign_count_licenses CASCADE`, `DROP FUNCTION countersign_count_download CASCADE`}
	}
	return append(triggers, []string{
		`DROP TABLE activity_days`, `DROP TABLE activity_totals`, `DROP TABLE activity_months`, `DROP TABLE refunded_parts`, `DROP TABLE sales_days`, `DROP TABLE sales_items`, `DROP TABLE removed_ids`,
		`ALTER TABLE licenses ADD COLUMN code_digest bigint NOT NULL DEFAULT 0`,
		`UPDATE licenses SET code_digest = (SELECT p.code_digest FROM purchases p WHERE p.id = licenses.purchase_id)`,
		`DROP INDEX licenses_of_purchase`,
		`ALTER TABLE licenses DROP COLUMN purchase_id`,
		`ALTER TABLE licenses DROP COLUMN claim`,
		`CREATE UNIQUE INDEX licenses_of_purchase ON licenses (code_digest, domain, (CASE WHEN ended = '' THEN '' ELSE id END))`,
		`DROP INDEX purchases_by_id`,
		`ALTER TABLE purchases DROP COLUMN id`,
		`DROP INDEX purchases_by_item`, `DROP INDEX purchases_ended`,
		`DELETE FROM store_versions WHERE version_id > 5`, `DROP TABLE members`, `DROP TABLE invitations`,
		`DROP TABLE import_mappings`, `DROP TABLE imports`, `DROP TABLE import_items`, `DROP TABLE import_purchases`, `DROP TABLE import_uploads`, `DROP TABLE media`, `DROP TABLE download_links`,
		`DROP INDEX audit_by_subject`, `DROP INDEX purchases_by_buyer_name`, `DROP INDEX purchases_by_buyer_email`,
		`DROP TABLE item_versions`, `DROP INDEX items_by_name`, `DROP INDEX items_by_price`, `DROP INDEX items_by_publication`, `DROP INDEX items_without_picture`,
	}...)
}

// older makes the store one of the version before purchases had ids.
func older(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	must.Do(t, f.DB().Session(t.Context(), func(session *storedb.DB) error {
		return session.Tx(t.Context(), func(tx *storedb.DB) error { return execAll(t.Context(), tx, withoutIDs(f.Instance.Database.Engine())) })
	}))
}

// manyPurchases writes n purchases of item 1, more than one portion of the migration.
func manyPurchases(t *testing.T, f *storetest.Fixture, n int) {
	t.Helper()
	must.Do(t, f.DB().Session(t.Context(), func(session *storedb.DB) error {
		return session.Tx(t.Context(), func(tx *storedb.DB) error {
			_, err := tx.Exec(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				INSERT INTO purchases (code_digest, code, workspace_id, item_id, license, price, currency, downloaded, sold_at, state, buyer_name, buyer_email)
				SELECT i, 'many-' || CAST(i AS text), w.id, 1, 'Regular', 1, 'USD', false, '2024-01-01T00:00:00Z', 'active', '', ''
				FROM n, workspaces w WHERE w.username = 'ada'`, n)
			return err
		})
	}))
}

// A migration that is killed goes on at the next start. Purchases, licenses and the
// sealed audit log are what they were, and every purchase has an id.
func TestAKilledMigrationIsFinishedByTheNextStart(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		const many = 24_000
		signed := f.Issue(t, "one", "shop.example")
		f.Allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 2 })
		f.Instance.Chain.SealNow(t.Context())
		if r := report(t, f); r.Sealed == 0 {
			t.Fatal("nothing is sealed")
		}
		before := f.MustExport(t, false)
		older(t, f)
		manyPurchases(t, f, many)
		for step := 1; ; step++ {
			if storetest.Killed(t, f.At, "migrate", step, 10) {
				if step < 4 {
					t.Errorf("%d steps only", step)
				}
				break
			}
			if _, err := f.Unprepared(t).DB().Meta(t.Context(), keyfile.CheckName); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			unnumber(t, f, step)
		}
		g := storetest.WantWhole(t, f)
		wantNumbered(t, g, many+8)
		if r := report(t, g); !r.Intact() || r.Sealed == 0 {
			t.Errorf("audit %+v", r)
		}
		if again := g.Issue(t, "one", "shop.example"); again.Text != signed.Text {
			t.Error("the license file has changed")
		}
		g.Execute(t, `DELETE FROM purchases WHERE code LIKE 'many-%'`)
		if after := g.MustExport(t, false); after != before {
			t.Error(storetest.FirstDifference(before, after))
		}
	})
}

// unnumber takes one id away, as if the version before had written a purchase between
// two starts.
func unnumber(t *testing.T, f *storetest.Fixture, step int) {
	t.Helper()
	if step < 3 {
		return // the column is not there yet
	}
	f.Unprepared(t).Execute(t, `UPDATE purchases SET id = NULL WHERE code = 'many-7'`)
}

// wantNumbered wants n purchases, each with an id of its own.
func wantNumbered(t *testing.T, f *storetest.Fixture, n int64) {
	t.Helper()
	if all, numbered := f.Rows(t, "purchases"), f.Rows(t, "(SELECT DISTINCT id FROM purchases WHERE id > 0) AS numbered"); all != n || numbered != n {
		t.Errorf("%d purchases with %d ids, want %d", all, numbered, n)
	}
}

func TestAServerThatMigratesSaysSo(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		o := storetest.OptionsOf(f.At, f.Clock)
		var s *store.Store
		asked := 0
		o.Progress = func(int64, int64) {
			asked++
			_, err := s.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "shop.example")
			storetest.WantError(t, err, "migrating")
			storetest.WantError(t, s.Instance.Ready(t.Context()), "migrating")
		}
		s = storetest.Opened(t, o)
		storetest.WantError(t, s.BeginToServe(t.Context()), "migrating")
		expect.Equalf(t, asked, 0, "the start has migrated")
		if err := s.PrepareLater(t.Context()); err != nil || asked == 0 {
			t.Fatalf("asked %d times, %v", asked, err)
		}
		expect.NoError(t, s.Instance.Ready(t.Context()))
	})
}

// The audit log names a purchase by its id, which outlives the key file; what was
// written before stays as it was sealed.
func TestTheAuditLogNamesPurchasesByID(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		p, err := f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: "sold"})
		if err != nil || p.ID == 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		must.Get(f.EndPurchase(t.Context(), storetest.Operator, "sold", store.StateRefunded))(t)
		lines, err := f.DB().Audits(t.Context(), peopledb.AuditFilter{Limit: 2})
		if err != nil || len(lines) != 2 || lines[0].Subject != store.IDText(p.ID) || lines[1].Subject != store.IDText(p.ID) {
			t.Errorf("%+v, %v", lines, err)
		}
		if code, err := f.Validation.Code(t.Context(), storetest.Operator, p.ID); err != nil || code != "sold" {
			t.Errorf("%q, %v", code, err)
		}
		_, err = f.Validation.Code(t.Context(), storetest.Operator, p.ID+1)
		storetest.WantError(t, err, "purchase_not_found")
	})
}

// A new key file changes no id and nothing that a license file says.
func TestRekeyKeepsIDsAndClaims(t *testing.T) {
	t.Parallel()
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := storetest.Prepared(t, at)
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "one"), storetest.PurchaseText("ada", 1, "two")))
		first := f.Issue(t, "one", "shop.example")
		before := idsByCode(t, f)
		f.MustRekey(t)
		f = f.Again(t)
		if after := idsByCode(t, f); !slices.Equal(after, before) {
			t.Errorf("ids %v, before %v", after, before)
		}
		if again := f.Issue(t, "one", "shop.example"); again.Text != first.Text {
			t.Error("the license file has changed")
		}
		f.Issue(t, "two", "shop.example")
	})
}

func idsByCode(t *testing.T, f *storetest.Fixture) (list []string) {
	t.Helper()
	must.Do(t, f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{}, func(p store.Purchase) error {
		list = append(list, p.Code+" "+store.IDText(p.ID))
		return nil
	}))
	slices.Sort(list)
	return list
}

// newItem creates an item of ada, without an id for 0.
func newItem(t *testing.T, f *storetest.Fixture, id int64) (store.Item, error) {
	t.Helper()
	return f.CreateItem(t.Context(), storetest.Operator, "ada", func(i *store.Item) error { i.ID, i.Name = id, "New"; return nil })
}

func TestIDsAreNeverUsedAgain(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		added := f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7), storetest.ItemText("ada", 9), storetest.PurchaseText("ada", 7, "gone-1"), storetest.PurchaseText("ada", 9, "gone-2")))
		highest := max(f.Purchase(t, "gone-1").ID, f.Purchase(t, "gone-2").ID)
		must.Get(f.Transfer.Undo(t.Context(), storetest.Operator, added.ID, false))(t)
		if i, err := newItem(t, f, 0); err != nil || i.ID != 10 {
			t.Errorf("item %d, %v", i.ID, err)
		}
		p, err := f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular"})
		if err != nil || p.ID <= highest {
			t.Errorf("purchase %d, %v, want one above %d", p.ID, err, highest)
		}
		second := f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "imported")))
		must.Get(f.Transfer.Undo(t.Context(), storetest.Operator, second.ID, false))(t)
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "last")))
		if last := f.Purchase(t, "last").ID; last <= p.ID+1 {
			t.Errorf("purchase %d after %d", last, p.ID)
		}
	})
}

func TestPeopleGiveItemsIDsThatEveryReaderKeeps(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		const tooHigh = storedb.MaxGivenID + 1
		if _, err := newItem(t, f, tooHigh); err == nil || !strings.Contains(storetest.MessageOf(err), "at most 9007199254740991") {
			t.Error(err)
		}
		if _, err := newItem(t, f, storedb.MaxGivenID); err != nil {
			t.Error(err)
		}
		if i, err := newItem(t, f, 0); err != nil || i.ID != 4 {
			t.Errorf("item %d, %v", i.ID, err)
		}
		for name, of := range map[string]struct {
			file string
			o    transfer.ImportOptions
		}{
			"lines": {storetest.Lines(storetest.ItemText("ada", tooHigh)), transfer.ImportOptions{Workspace: "ada"}},
			"rows":  {"id,name,currency,published_at\n" + strconv.Itoa(tooHigh) + ",New,USD,2024-01-01\n", storetest.CSVInto("ada", nil)},
		} {
			_, bad := f.ImportText(t, of.file, of.o)
			if len(bad) != 1 || !strings.Contains(bad[0].Reason, "at most 9007199254740991") {
				t.Errorf("%s: %v", name, bad)
			}
		}
	})
}

// A store may have ids from before they had a limit.
func TestAnItemWithAHigherIDKeepsWorking(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		const high = 1<<63 - 1
		f.Execute(t, `DELETE FROM item_versions WHERE item_id = 2`, fmt.Sprintf(`UPDATE items SET id = %d WHERE id = 2`, int64(high)))
		if i, err := f.EditItem(t.Context(), storetest.Operator, high, "", func(i *store.Item, _ string) error { i.Name = "Edited"; return nil }); err != nil || i.Name != "Edited" {
			t.Error(err)
		}
		file := storetest.Lines(storetest.ItemText("ada", high, `"name":"Imported"`), storetest.PurchaseText("ada", high, "of-it"))
		if _, bad := f.ImportText(t, file, transfer.ImportOptions{Workspace: "ada"}); len(bad) > 0 {
			t.Error(bad)
		}
		f.MustImport(t, storetest.Lines(storetest.ItemText("bob", high-1))) // in the export of another store
		if i, err := newItem(t, f, 0); err != nil || i.ID != 4 {
			t.Errorf("item %d, %v", i.ID, err)
		}
	})
}
