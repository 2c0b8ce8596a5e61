package store_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// The ranks of people in the workspace ada, from the least.
var ranks = []string{"stranger", "viewer", "manager", "owner", "administrator"}

// Every public rule asks for the role of a user. The least rank that may is beside it.
func TestRulesAskForTheRoleOfAUser(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx := t.Context()
		k, _ := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "till"})
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code"), storetest.PurchaseText("ada", 1, "licensed")))
		issued := f.Issue(t, "licensed", "shop.example")
		sold := must.Get(f.Validation.Show(ctx, storetest.Operator, "a-code"))(t)
		waiting := must.Get(f.Transfer.Upload(ctx, storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales())))(t)
		staff := f.Staff(t)
		viewer := staff["viewer"].User
		type rule struct {
			least string
			call  func(a people.Actor) error
		}
		rules := map[string]rule{
			"AddHistory":          {"administrator", func(a people.Actor) error { return f.AddHistory(ctx, a, nil) }},
			"ItemsWithoutPicture": {"administrator", func(a people.Actor) error { _, err := f.ItemsWithoutPicture(ctx, a); return err }},
			"Workspaces":          {"administrator", func(a people.Actor) error { _, err := f.Workspaces(ctx, a); return err }},
			"CreateWorkspace":     {"administrator", func(a people.Actor) error { _, err := f.CreateWorkspace(ctx, a, store.Workspace{}); return err }},
			"Keys of all":         {"administrator", func(a people.Actor) error { _, err := f.Keys(ctx, a, ""); return err }},
			"Import": {"administrator", func(a people.Actor) error {
				_, err := f.Transfer.Import(ctx, a, strings.NewReader(""), transfer.ImportOptions{})
				return err
			}},
			"Import into ada": {"manager", func(a people.Actor) error {
				_, err := f.Transfer.Import(ctx, a, strings.NewReader(""), transfer.ImportOptions{Workspace: "ada"})
				return err
			}},
			"Upload": {"manager", func(a people.Actor) error {
				_, err := f.Transfer.Upload(ctx, a, storetest.Uploaded, strings.NewReader("id\n"))
				return err
			}},
			"Uploads": {"manager", func(a people.Actor) error { _, err := f.Transfer.Uploads(ctx, a, "ada"); return err }},
			"Preview": {"manager", func(a people.Actor) error { _, err := f.Transfer.Preview(ctx, a, waiting, "", ""); return err }},
			"Confirm": {"manager", func(a people.Actor) error {
				_, err := f.Transfer.Confirm(ctx, a, waiting, transfer.NewImport{DryRun: true})
				return err
			}},
			"Discard": {"manager", func(a people.Actor) error {
				id, err := f.Transfer.Upload(ctx, storetest.Operator, storetest.Uploaded, strings.NewReader("id\n"))
				if err != nil {
					return err
				}
				return f.Transfer.Discard(ctx, a, id)
			}},
			"LoadSample":        {"manager", func(a people.Actor) error { _, err := f.Transfer.LoadSample(ctx, a, "ada"); return err }},
			"RemoveSample":      {"manager", func(a people.Actor) error { _, err := f.Transfer.RemoveSample(ctx, a, "ada"); return err }},
			"Sample":            {"viewer", func(a people.Actor) error { _, err := f.Transfer.Sample(ctx, a, "ada"); return err }},
			"Jobs of ada":       {"manager", func(a people.Actor) error { _, err := f.Transfer.Jobs(ctx, a, "ada"); return err }},
			"Export":            {"administrator", func(a people.Actor) error { return f.Transfer.Export(ctx, a, io.Discard, true) }},
			"Rotate the signer": {"administrator", func(a people.Actor) error { _, err := f.Licensing.RotateKey(ctx, a, false); return err }},
			"Licenses of all": {"administrator", func(a people.Actor) error {
				return f.Licensing.List(ctx, a, licensing.Filter{}, func(licensing.License) error { return nil })
			}},
			"Workspace":    {"viewer", func(a people.Actor) error { _, err := f.Workspace(ctx, a, "ada"); return err }},
			"Keys":         {"viewer", func(a people.Actor) error { _, err := f.Keys(ctx, a, "ada"); return err }},
			"Key":          {"viewer", func(a people.Actor) error { _, err := f.Key(ctx, a, k.ID); return err }},
			"ListItems":    {"viewer", func(a people.Actor) error { _, err := f.ListItems(ctx, a, "ada"); return err }},
			"ShowItem":     {"viewer", func(a people.Actor) error { _, err := f.ShowItem(ctx, a, 1); return err }},
			"Purchase":     {"viewer", func(a people.Actor) error { _, err := f.Validation.Purchase(ctx, a, sold.Purchase.ID); return err }},
			"Show":         {"viewer", func(a people.Actor) error { _, err := f.Validation.Show(ctx, a, "a-code"); return err }},
			"Nearby":       {"viewer", func(a people.Actor) error { _, err := f.Validation.Nearby(ctx, a, "ada", "b-code"); return err }},
			"Members":      {"viewer", func(a people.Actor) error { _, err := f.Members(ctx, a, "ada"); return err }},
			"Show license": {"viewer", func(a people.Actor) error { _, err := f.Licensing.Show(ctx, a, issued.ID); return err }},
			"ListPurchases": {"viewer", func(a people.Actor) error {
				_, err := f.ListPurchases(ctx, a, "ada", store.PurchaseFilter{}, store.PurchasePlace{})
				return err
			}},
			"CreateItem":     {"manager", func(a people.Actor) error { _, err := f.CreateItem(ctx, a, "ada", from(`{"name":"Rain"}`)); return err }},
			"Media.ItemFile": {"viewer", func(a people.Actor) error { _, _, err := f.Media.ItemFile(ctx, a, 1); return err }},
			"Media.CreateLink": {"manager", func(a people.Actor) error {
				_, _, err := f.Media.CreateLink(ctx, a, sold.Purchase.ID, time.Hour)
				return err
			}},
			"Media.SetItem": {"manager", func(a people.Actor) error {
				_, err := f.Media.SetItem(ctx, a, 1, media.Thumbnail, storetest.Picture(t, 3))
				return err
			}},
			"Media.RemoveItem": {"manager", func(a people.Actor) error { _, err := f.Media.RemoveItem(ctx, a, 1, media.Thumbnail); return err }},
			"Media.SetProfile": {"owner", func(a people.Actor) error {
				_, err := f.Media.SetProfile(ctx, a, "ada", media.Avatar, storetest.Picture(t, 3))
				return err
			}},
			"Media.RemoveProfile": {"owner", func(a people.Actor) error { _, err := f.Media.RemoveProfile(ctx, a, "ada", media.Avatar); return err }},
			"EditItem": {"manager", func(a people.Actor) error {
				_, err := f.EditItem(ctx, a, 1, "", func(i *store.Item, _ string) error { return from(`{"name":"Rain"}`)(i) })
				return err
			}},
			"PublishItems": {"manager", func(a people.Actor) error { _, err := f.PublishItems(ctx, a, "ada", []int64{1}); return err }},
			"SetItemsCategory": {"manager", func(a people.Actor) error {
				_, err := f.SetItemsCategory(ctx, a, "ada", []int64{1}, "Loops")
				return err
			}},
			"PageItems": {"viewer", func(a people.Actor) error {
				_, err := f.PageItems(ctx, a, "ada", store.ItemFilter{Limit: 1})
				return err
			}},
			"ListItemNames": {"viewer", func(a people.Actor) error { _, err := f.ListItemNames(ctx, a, "ada", 1); return err }},
			"EachItem": {"viewer", func(a people.Actor) error {
				return f.EachItem(ctx, a, "ada", store.ItemFilter{}, func(store.Item) error { return nil })
			}},
			"ItemVersions": {"viewer", func(a people.Actor) error { _, err := f.ItemVersions(ctx, a, 1); return err }},
			"FindBuyer":    {"viewer", func(a people.Actor) error { _, err := f.FindBuyer(ctx, a, "ada", "grace"); return err }},
			"SetRule": {"manager", func(a people.Actor) error {
				_, err := f.Licensing.SetRule(ctx, a, 1, "", func(*licensing.Rule) {})
				return err
			}},
			"CreatePurchase":  {"manager", func(a people.Actor) error { _, err := f.CreatePurchase(ctx, a, "ada", store.Purchase{}); return err }},
			"EndPurchase":     {"manager", func(a people.Actor) error { _, err := f.EndPurchase(ctx, a, "a-code", store.StateRefunded); return err }},
			"RestorePurchase": {"manager", func(a people.Actor) error { _, err := f.RestorePurchase(ctx, a, "a-code"); return err }},
			"SetPurchase": {"manager", func(a people.Actor) error {
				_, err := f.SetPurchase(ctx, a, "a-code", "", func(p *store.PurchaseTerms) { p.Downloaded = !p.Downloaded })
				return err
			}},
			"Issue": {"manager", func(a people.Actor) error {
				_, err := f.Licensing.Issue(ctx, a, storetest.Issuer, "a-code", "site.example")
				return err
			}},
			"Revoke": {"manager", func(a people.Actor) error { _, err := f.Licensing.Revoke(ctx, a, issued.ID); return err }},
			"Reassign": {"manager", func(a people.Actor) error {
				_, err := f.Licensing.Reassign(ctx, a, storetest.Issuer, issued.ID, "b.example")
				return err
			}},
			"SetWorkspace": {"owner", func(a people.Actor) error {
				_, err := f.SetWorkspace(ctx, a, "ada", func(*store.Workspace) {})
				return err
			}},
			"CreateKey": {"owner", func(a people.Actor) error {
				_, _, err := f.CreateKey(ctx, a, store.NewKey{Workspace: "ada"})
				return err
			}},
			"RevealKey":  {"owner", func(a people.Actor) error { _, _, err := f.RevealKey(ctx, a, k.ID); return err }},
			"KeyForCall": {"manager", func(a people.Actor) error { _, err := f.KeyForCall(ctx, a, k.ID, ""); return err }},
			"RotateKey":  {"owner", func(a people.Actor) error { _, _, err := f.RotateKey(ctx, a, k.ID, 0, ""); return err }},
			"RevokeKey":  {"owner", func(a people.Actor) error { _, err := f.RevokeKey(ctx, a, k.ID); return err }},
			"RestoreKey": {"owner", func(a people.Actor) error { _, err := f.RestoreKey(ctx, a, k.ID); return err }},
			"SetKeyExpiry": {"owner", func(a people.Actor) error {
				_, err := f.SetKeyExpiry(ctx, a, k.ID, storetest.Timestamp("2027-01-01T00:00:00Z"))
				return err
			}},
			"Invitations": {"owner", func(a people.Actor) error { _, err := f.Invitations(ctx, a, "ada"); return err }},
			"Invite": {"owner", func(a people.Actor) error {
				_, _, err := f.Invite(ctx, a, "ada", "eve@home.example", store.RoleViewer)
				return err
			}},
			"SetMember":    {"owner", func(a people.Actor) error { _, err := f.SetMember(ctx, a, "ada", viewer, store.RoleViewer); return err }},
			"RemoveMember": {"owner", func(a people.Actor) error { _, err := f.RemoveMember(ctx, a, "ada", 0); return err }},
			"Withdraw":     {"owner", func(a people.Actor) error { return f.WithdrawInvitation(ctx, a, "ada", "none") }},
		}
		for name, r := range rules {
			for i, who := range ranks {
				err := r.call(staff[who])
				refused := fault.HasCode(err, "role_needed") || fault.HasCode(err, "not_allowed")
				hidden := fault.HasCode(err, "workspace_not_found") || fault.HasCode(err, "key_not_found") || fault.HasCode(err, "item_not_found") ||
					fault.HasCode(err, "purchase_not_found") || fault.HasCode(err, "license_not_found") || fault.HasCode(err, "upload_not_found")
				switch allowed := i >= slices.Index(ranks, r.least); {
				case allowed && (refused || hidden && name != "CreatePurchase"):
					t.Errorf("%s as %s: %v", name, who, err)
				case !allowed && who == "stranger" && r.least != "administrator" && !hidden:
					t.Errorf("%s as a stranger: %v, want that it does not exist", name, err)
				case !allowed && (who != "stranger" || r.least == "administrator") && !refused:
					t.Errorf("%s as %s: %v, want a refusal", name, who, err)
				}
			}
		}
	})
}

func TestViewersDoNotReadTheAddressesOfBuyers(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		sold := must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: "sold-to-grace", BuyerName: "Grace", BuyerEmail: "grace@home.example"}))(t)
		staff := f.Staff(t)
		for who, want := range map[string]string{"viewer": "", "manager": sold.BuyerEmail, "owner": sold.BuyerEmail, "administrator": sold.BuyerEmail} {
			a := staff[who]
			var read []store.Purchase
			one, errOne := f.Validation.Purchase(t.Context(), a, sold.ID)
			byCode, errByCode := f.Validation.Show(t.Context(), a, sold.Code)
			page, errPage := f.ListPurchases(t.Context(), a, "ada", store.PurchaseFilter{Limit: 10}, store.PurchasePlace{})
			similar, errSimilar := f.Validation.Nearby(t.Context(), a, "ada", "sold-to-graze")
			errPurchases := f.Purchases(t.Context(), a, "ada", store.PurchaseFilter{}, func(p store.Purchase) error { read = append(read, p); return nil })
			for _, err := range []error{errOne, errByCode, errPage, errSimilar, errPurchases} {
				must.Do(t, err)
			}
			if len(page.Purchases) != 1 || len(similar) != 1 || len(read) != 1 {
				t.Fatalf("%d, %d and %d purchases", len(page.Purchases), len(similar), len(read))
			}
			for _, p := range []store.Purchase{one.Purchase, byCode.Purchase, page.Purchases[0], similar[0], read[0]} {
				if p.BuyerEmail != want || p.BuyerName != "Grace" {
					t.Errorf("%s reads %q, %q", who, p.BuyerName, p.BuyerEmail)
				}
			}
		}
	})
}
