package storedb

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

var day = func() countersign.Timestamp {
	t, err := countersign.ParseTimestamp("2024-04-27T12:00:00Z")
	if err != nil {
		panic(err)
	}
	return t
}()

// opened opens a database with the store's tables and the workspaces ada and bob.
func opened(t *testing.T, at dbtest.DB) (d *DB, ada, bob int64) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "store.db"), Schemas: Schemas}))(t)
	t.Cleanup(func() {
		expect.NoError(t, db.Close())
	})
	must.Do(t, db.Migrate(t.Context()))
	d = New(db)
	var ids []int64
	for _, name := range []string{"ada", "bob"} {
		w := Workspace{Account: countersign.Account{Username: name, Currency: "USD", RegisteredAt: day}}
		must.Do(t, d.AddWorkspace(t.Context(), w))
		made := must.Get(d.Workspace(t.Context(), name))(t)
		ids = append(ids, made.ID)
	}
	return d, ids[0], ids[1]
}

func itemNumber(id int64) Item {
	return Item{Kind: KindOther, Body: []byte("{}"), Item: countersign.Item{ID: id, Currency: "USD", PublishedAt: day}}
}

func codeNumber(n byte) Purchase {
	return Purchase{Digest: Digest(n), Code: string('a' + rune(n)), License: "Regular", Currency: "USD", SoldAt: day, State: StateActive}
}

// stageAndMove moves one item and one purchase of it; between calls meanwhile
// when both are staged.
func stageAndMove(t *testing.T, d *DB, workspace string, i Item, p Purchase, meanwhile func()) error {
	t.Helper()
	ctx := t.Context()
	return d.Session(ctx, func(session *DB) error {
		stage, err := session.NewStage(ctx)
		if err != nil {
			return err
		}
		p.ItemID = i.ID
		if err := stage.AddItem(ctx, 1, workspace, i, nil, nil); err != nil {
			return err
		}
		if err := stage.AddPurchase(ctx, 2, 0, workspace, p, 0); err != nil {
			return err
		}
		if err := stage.Flush(ctx, session); err != nil {
			return err
		}
		meanwhile()
		return session.Tx(ctx, func(tx *DB) error {
			if _, err := tx.MoveItems(ctx); err != nil {
				return err
			}
			_, err := tx.MovePurchases(ctx, day, nil, true)
			return err
		})
	})
}

// What another process writes between the checks and the move must not end up in
// two workspaces.
func TestMoveTakesNothingFromAnotherWorkspace(t *testing.T) {
	cases := []struct {
		name      string
		workspace string
		item      Item
		purchase  Purchase
	}{
		{"an item", "bob", itemNumber(1), codeNumber(2)},
		{"a purchase", "bob", itemNumber(2), codeNumber(1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				d, ada, bob := opened(t, at)
				err := stageAndMove(t, d, c.workspace, c.item, c.purchase, func() {
					must.Do(t, stageAndMove(t, d, "ada", itemNumber(1), codeNumber(1), func() {}))
				})
				if err == nil {
					t.Error("the move went through")
				}
				if owner, err := d.ItemWorkspace(t.Context(), 1); err != nil || owner != ada {
					t.Errorf("item 1 belongs to workspace %d, %v; want %d", owner, err, ada)
				}
				p, err := d.PurchaseByDigest(t.Context(), 1)
				if err != nil || p.WorkspaceID != ada || p.ItemID != 1 {
					t.Errorf("purchase %+v, %v", p, err)
				}
				if items, err := d.Items(t.Context(), bob); err != nil || len(items) != 0 {
					t.Errorf("bob has %d items, %v", len(items), err)
				}
			})
		})
	}
}

// Two codes that share a digest are one in a few hundred thousand shops of ten
// million purchases; neither may take the other's place.
func TestCodesOfOneDigestAreNotMixedUp(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		ctx := t.Context()
		d, ada, _ := opened(t, at)
		must.Do(t, stageAndMove(t, d, "ada", itemNumber(1), codeNumber(1), func() {}))
		second := codeNumber(1)
		second.Code = "another"
		if err := stageAndMove(t, d, "ada", itemNumber(1), second, func() {}); err == nil {
			t.Error("a second code took the place of the first")
		}
		must.Do(t, d.Session(ctx, func(session *DB) error {
			stage, err := session.NewStage(ctx)
			if err != nil {
				return err
			}
			upper, fresh := codeNumber(1), codeNumber(2)
			upper.Code = strings.ToUpper(upper.Code)
			for line, p := range []Purchase{upper, second, fresh} {
				p.ItemID = 1
				if err := stage.AddPurchase(ctx, line, 0, "ada", p, 0); err != nil {
					return err
				}
			}
			if err := stage.Flush(ctx, session); err != nil {
				return err
			}
			got, err := session.StagePurchaseConflicts(ctx)
			if want := []int{1}; err == nil && !slices.Equal(got, want) {
				t.Errorf("clashing lines %v, want %v", got, want)
			}
			return err
		}))
		if p, err := d.PurchaseByDigest(ctx, 1); err != nil || p.Code != codeNumber(1).Code || p.WorkspaceID != ada {
			t.Errorf("purchase %+v, %v", p, err)
		}
	})
}

func TestMoveOfTheSameWorkspaceGoesThrough(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		d, _, _ := opened(t, at)
		for range 2 {
			must.Do(t, stageAndMove(t, d, "ada", itemNumber(1), codeNumber(1), func() {}))
		}
	})
}
