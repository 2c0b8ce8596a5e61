package store_test

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// Every public rule asks who may, before it does anything.
func TestRulesRefuseKeysWhatTheyMayNot(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx := t.Context()
		_, secret := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "secret"})
		k, publishable := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "publishable", Class: store.ClassPublishable, Item: 1})
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code")))
		manage := map[string]func(people.Actor) error{
			"Workspaces":      func(a people.Actor) error { _, err := f.Workspaces(ctx, a); return err },
			"Workspace":       func(a people.Actor) error { _, err := f.Workspace(ctx, a, "ada"); return err },
			"CreateWorkspace": func(a people.Actor) error { _, err := f.CreateWorkspace(ctx, a, store.Workspace{}); return err },
			"SetWorkspace": func(a people.Actor) error {
				_, err := f.SetWorkspace(ctx, a, "ada", func(*store.Workspace) {})
				return err
			},
			"Memberships":  func(a people.Actor) error { _, err := f.Memberships(ctx, a); return err },
			"Keys":         func(a people.Actor) error { _, err := f.Keys(ctx, a, ""); return err },
			"CreateKey":    func(a people.Actor) error { _, _, err := f.CreateKey(ctx, a, store.NewKey{}); return err },
			"RevealKey":    func(a people.Actor) error { _, _, err := f.RevealKey(ctx, a, k.ID); return err },
			"RotateKey":    func(a people.Actor) error { _, _, err := f.RotateKey(ctx, a, k.ID, 0, ""); return err },
			"EarlierValue": func(a people.Actor) error { _, err := f.EarlierValue(ctx, a, k.ID); return err },
			"RevokeKey":    func(a people.Actor) error { _, err := f.RevokeKey(ctx, a, k.ID); return err },
			"SetKeyExpiry": func(a people.Actor) error {
				_, err := f.SetKeyExpiry(ctx, a, k.ID, storetest.Timestamp("2027-01-01T00:00:00Z"))
				return err
			},
			"ListItems":       func(a people.Actor) error { _, err := f.ListItems(ctx, a, "ada"); return err },
			"ShowItem":        func(a people.Actor) error { _, err := f.ShowItem(ctx, a, 1); return err },
			"CheckPurchase":   func(a people.Actor) error { _, err := f.Validation.Check(ctx, a, "a-code"); return err },
			"ShowPurchase":    func(a people.Actor) error { _, err := f.Validation.Show(ctx, a, "a-code"); return err },
			"Purchases":       func(a people.Actor) error { return f.Purchases(ctx, a, "ada", store.PurchaseFilter{}, nil) },
			"CreatePurchase":  func(a people.Actor) error { _, err := f.CreatePurchase(ctx, a, "ada", store.Purchase{}); return err },
			"RefundPurchase":  func(a people.Actor) error { _, err := f.EndPurchase(ctx, a, "a-code", store.StateRefunded); return err },
			"RestorePurchase": func(a people.Actor) error { _, err := f.RestorePurchase(ctx, a, "a-code"); return err },
			"SetPurchase": func(a people.Actor) error {
				_, err := f.SetPurchase(ctx, a, "a-code", "", func(p *store.PurchaseTerms) { p.Downloaded = true })
				return err
			},
			"CreateItem": func(a people.Actor) error { _, err := f.CreateItem(ctx, a, "ada", from(`{"name":"Rain"}`)); return err },
			"EditItem": func(a people.Actor) error {
				_, err := f.EditItem(ctx, a, 1, "", func(i *store.Item, _ string) error { return from(`{"name":"Rain"}`)(i) })
				return err
			},
			"Import": func(a people.Actor) error {
				_, err := f.Transfer.Import(ctx, a, nil, transfer.ImportOptions{})
				return err
			},
			"Export": func(a people.Actor) error { return f.Transfer.Export(ctx, a, nil, true) },
			"Rekey":  func(a people.Actor) error { _, err := f.Rekey(ctx, a); return err },
		}
		read := map[string]func(people.Actor) error{
			"Account": func(a people.Actor) error { _, err := f.Validation.Account(ctx, a); return err },
			"Items":   func(a people.Actor) error { _, err := f.Validation.Items(ctx, a, ""); return err },
			"Item":    func(a people.Actor) error { _, err := f.Validation.Item(ctx, a, 1); return err },
		}
		before := f.MustExport(t, false)
		for _, token := range []string{secret, publishable} {
			for name, rule := range manage {
				if got := storetest.CodeOf(rule(f.ActorOf(t, token))); got != "key_scope" {
					t.Errorf("%s with the key %s: code %q, want key_scope", name, token[:4], got)
				}
			}
		}
		for name, rule := range read {
			expect.Equalf(t, storetest.CodeOf(rule(f.ActorOf(t, publishable))), "key_scope", "%s with a publishable key: code", name)
			expect.NoErrorf(t, rule(f.ActorOf(t, secret)), "%s with a secret key", name)
		}
		expect.Equalf(t, f.MustExport(t, false), before, "something was changed by a key that may not")
	})
}
