package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
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
func (f *fixture) withoutActivity(t *testing.T) {
	t.Helper()
	statements := []string{`DROP TRIGGER licenses_issued`, `DROP TRIGGER download_links_used`}
	if f.database.Engine() == sqldb.Postgres {
		statements = []string{`DROP FUNCTION countersign_count_licenses CASCADE`, `DROP FUNCTION countersign_count_download CASCADE`}
	}
	statements = append(statements, `DROP TABLE activity_days`, `DROP TABLE activity_totals`, `DROP TABLE activity_months`, `DELETE FROM store_versions WHERE version_id >= 19`)
	if err := f.db.Tx(t.Context(), func(tx *storedb.DB) error { return execAll(t.Context(), tx, statements) }); err != nil {
		t.Fatal(err)
	}
}

// withoutIDs are the statements that bring the tables to those of the version before
// purchases had ids.
func withoutIDs(engine sqldb.Engine) []string {
	triggers := []string{`DROP TRIGGER purchases_sold`, `DROP TRIGGER purchases_unsold`, `DROP TRIGGER purchases_changed`, `DROP TRIGGER licenses_issued`, `DROP TRIGGER download_links_used`}
	if engine == sqldb.Postgres {
		triggers = []string{`DROP FUNCTION countersign_count_sales CASCADE`, `DROP FUNCTION countersign_count_licenses CASCADE`, `DROP FUNCTION countersign_count_download CASCADE`}
	}
	return append(triggers, []string{
		`DROP TABLE activity_days`, `DROP TABLE activity_totals`, `DROP TABLE activity_months`, `DROP TABLE sales_days`, `DROP TABLE sales_items`, `DROP TABLE removed_ids`,
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
		`DROP TABLE item_versions`, `DROP INDEX items_by_name`, `DROP INDEX items_by_price`, `DROP INDEX items_by_publication`,
	}...)
}

// older makes the store one of the version before purchases had ids.
func (f *fixture) older(t *testing.T) {
	t.Helper()
	err := f.db.Session(t.Context(), func(session *storedb.DB) error {
		return session.Tx(t.Context(), func(tx *storedb.DB) error { return execAll(t.Context(), tx, withoutIDs(f.database.Engine())) })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// manyPurchases writes n purchases of item 1, more than one portion of the migration.
func (f *fixture) manyPurchases(t *testing.T, n int) {
	t.Helper()
	err := f.db.Session(t.Context(), func(session *storedb.DB) error {
		return session.Tx(t.Context(), func(tx *storedb.DB) error {
			_, err := tx.Exec(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				INSERT INTO purchases (code_digest, code, workspace_id, item_id, license, price, currency, downloaded, sold_at, state, buyer_name, buyer_email)
				SELECT i, 'many-' || CAST(i AS text), w.id, 1, 'Regular', 1, 'USD', false, '2024-01-01T00:00:00Z', 'active', '', ''
				FROM n, workspaces w WHERE w.username = 'ada'`, n)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A migration that is killed goes on at the next start. Purchases, licenses and the
// sealed audit log are what they were, and every purchase has an id.
func TestAKilledMigrationIsFinishedByTheNextStart(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		const many = 24_000
		signed := f.issue(t, "one", "shop.example")
		f.allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 2 })
		f.AuditChain().SealNow(t.Context())
		if r := f.report(t); r.Sealed == 0 {
			t.Fatal("nothing is sealed")
		}
		before := f.mustExport(t, false)
		f.older(t)
		f.manyPurchases(t, many)
		for step := 1; ; step++ {
			if step > 10 {
				t.Fatal("the migration takes more steps than expected")
			}
			said := killed(t, f.at, "migrate", step, waiting)
			if len(said) != 1 {
				t.Fatalf("step %d: said %q", step, said)
			}
			if said[0] == "waiting: done" {
				if step < 4 {
					t.Errorf("%d steps only", step)
				}
				break
			}
			if _, err := opened(t, optionsOf(f.at, f.clock)).db.Meta(t.Context(), keyfile.CheckName); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			f.unnumber(t, step)
		}
		g := wantWhole(t, f)
		g.wantNumbered(t, many+8)
		if r := g.report(t); !r.Intact() || r.Sealed == 0 {
			t.Errorf("audit %+v", r)
		}
		if again := g.issue(t, "one", "shop.example"); again.Text != signed.Text {
			t.Error("the license file has changed")
		}
		_, err := g.database.Queries().Exec(t.Context(), `DELETE FROM purchases WHERE code LIKE 'many-%'`)
		if err != nil {
			t.Fatal(err)
		}
		if after := g.mustExport(t, false); after != before {
			t.Error(firstDifference(before, after))
		}
	})
}

// unnumber takes one id away, as if the version before had written a purchase between
// two starts.
func (f *fixture) unnumber(t *testing.T, step int) {
	t.Helper()
	if step < 3 {
		return // the column is not there yet
	}
	_, err := opened(t, optionsOf(f.at, f.clock)).database.Queries().Exec(t.Context(), `UPDATE purchases SET id = NULL WHERE code = 'many-7'`)
	if err != nil {
		t.Fatal(err)
	}
}

// wantNumbered wants n purchases, each with an id of its own.
func (f *fixture) wantNumbered(t *testing.T, n int64) {
	t.Helper()
	if all, numbered := f.rows(t, "purchases"), f.rows(t, "(SELECT DISTINCT id FROM purchases WHERE id > 0) AS numbered"); all != n || numbered != n {
		t.Errorf("%d purchases with %d ids, want %d", all, numbered, n)
	}
}

func TestAServerThatMigratesSaysSo(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.older(t)
		o := optionsOf(f.at, f.clock)
		var s *Store
		asked := 0
		o.Progress = func(int64, int64) {
			asked++
			_, err := s.Licensing.Issue(t.Context(), buyer, issuer, "one", "shop.example")
			wantError(t, err, "migrating")
			wantError(t, s.Ready(t.Context()), "migrating")
		}
		s = opened(t, o)
		wantError(t, s.BeginToServe(t.Context()), "migrating")
		if asked != 0 {
			t.Error("the start has migrated")
		}
		if err := s.prepareLater(t.Context()); err != nil || asked == 0 {
			t.Fatalf("asked %d times, %v", asked, err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The audit log names a purchase by its id, which outlives the key file; what was
// written before stays as it was sealed.
func TestTheAuditLogNamesPurchasesByID(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		p, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular", Code: "sold"})
		if err != nil || p.ID == 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, err := f.EndPurchase(t.Context(), operator, "sold", StateRefunded); err != nil {
			t.Fatal(err)
		}
		lines, err := f.db.Audits(t.Context(), peopledb.AuditFilter{Limit: 2})
		if err != nil || len(lines) != 2 || lines[0].Subject != idText(p.ID) || lines[1].Subject != idText(p.ID) {
			t.Errorf("%+v, %v", lines, err)
		}
		if code, err := f.Validation.Code(t.Context(), operator, p.ID); err != nil || code != "sold" {
			t.Errorf("%q, %v", code, err)
		}
		_, err = f.Validation.Code(t.Context(), operator, p.ID+1)
		wantError(t, err, "purchase_not_found")
	})
}

// A new key file changes no id and nothing that a license file says.
func TestRekeyKeepsIDsAndClaims(t *testing.T) {
	t.Parallel()
	twoShopsStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := prepared(t, at)
		f.mustImport(t, lines(purchaseText("ada", 1, "one"), purchaseText("ada", 1, "two")))
		first := f.issue(t, "one", "shop.example")
		before := f.idsByCode(t)
		if _, err := f.Rekey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		f = f.again(t)
		if after := f.idsByCode(t); !slices.Equal(after, before) {
			t.Errorf("ids %v, before %v", after, before)
		}
		if again := f.issue(t, "one", "shop.example"); again.Text != first.Text {
			t.Error("the license file has changed")
		}
		f.issue(t, "two", "shop.example")
	})
}

func (f *fixture) idsByCode(t *testing.T) (list []string) {
	t.Helper()
	err := f.Purchases(t.Context(), operator, "ada", PurchaseFilter{}, func(p Purchase) error {
		list = append(list, p.Code+" "+idText(p.ID))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}
