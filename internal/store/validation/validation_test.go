package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/validation"
)

// Which keys get which answer for a code of item 1 of ada, by its state.
func TestValidationByStateAndKey(t *testing.T) {
	keys := []string{"secret key of the workspace", "publishable key of the item", "publishable key of another item", "secret key of another workspace", "publishable key of another workspace", "operator"}
	want := map[store.State][]string{
		store.StateActive:      {"", "", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found"},
		store.StateRefunded:    {"purchase_refunded", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found"},
		store.StateChargedBack: {"purchase_charged_back", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found"},
		store.StateRevoked:     {"purchase_revoked", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found", "purchase_not_found"},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.SoldCodes())
		var actors []people.Actor
		for i, n := range []store.NewKey{
			{Workspace: "ada"}, {Workspace: "ada", Class: store.ClassPublishable, Item: 1}, {Workspace: "ada", Class: store.ClassPublishable, Item: 2},
			{Workspace: "bob"}, {Workspace: "bob", Class: store.ClassPublishable, Item: 3},
		} {
			n.Name = keys[i]
			_, token := f.MustCreate(t, n)
			actors = append(actors, f.ActorOf(t, token))
		}
		actors = append(actors, storetest.Operator) // of no workspace
		for state, codes := range want {
			for i, actor := range actors {
				valid, err := f.Validation.Validate(t.Context(), actor, fmt.Sprintf("code-1-%s", state))
				if storetest.CodeOf(err) != codes[i] {
					t.Errorf("%s purchase, %s: code %q, want %q", state, keys[i], storetest.CodeOf(err), codes[i])
				}
				if about := valid.PurchaseID != 0 && valid.ItemID == 1; about != (i < 3) {
					t.Errorf("%s purchase, %s: it is about purchase %d of item %d", state, keys[i], valid.PurchaseID, valid.ItemID)
				}
				valid.PurchaseID, valid.ItemID = 0, 0
				if err != nil && (storetest.MessageOf(err) != "Invalid purchase code" || valid != (validation.Valid{})) {
					t.Errorf("%s purchase, %s: message %q, answer %+v", state, keys[i], storetest.MessageOf(err), valid)
				}
			}
		}
	})
}

// Spec 2.4: supported_until is there when the item has support and the purchase
// was sold with it.
func TestSupportedUntil(t *testing.T) {
	past, future := "2025-04-27T12:00:00Z", "2027-04-27T12:00:00Z"
	cases := []struct {
		name string
		item int // 1 has support, 2 has none
		sold string
		want string
	}{
		{"support that lasts is printed", 1, future, future},
		{"support that has passed is printed", 1, past, past},
		{"a purchase without support has none", 1, "", ""},
		{"an item without support prints none that lasts", 2, future, ""},
		{"an item without support prints none that has passed", 2, past, ""},
		{"neither has none", 2, "", ""},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		for i, c := range cases {
			member := `"supported_until":null`
			if c.sold != "" {
				member = `"supported_until":"` + c.sold + `"`
			}
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", c.item, "code-"+storetest.Text(i), member)))
			valid := must.Get(f.Validation.Validate(t.Context(), f.ActorOf(t, token), "code-"+storetest.Text(i)))(t)
			got := ""
			if until := storetest.Read(t, valid).SupportedUntil; until != nil {
				got = until.String()
			}
			expect.Equalf(t, got, c.want, "%s", c.name)
		}
	})
}

func TestValidPurchaseIsPrintedAsItWasSold(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "Code-ABC", `"license_type":"Extended"`, `"price":198.5`, `"currency":"EUR"`,
			`"downloaded":true`, `"buyer":{"name":"Buyer","email":"buyer@inbox.example"}`)))
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		valid := must.Get(f.Validation.Validate(t.Context(), f.ActorOf(t, token), " cODE-abc\n"))(t)
		want := countersign.Purchase{
			PurchaseCode: "Code-ABC", LicenseType: "Extended", Price: 19850, Currency: "EUR", Downloaded: true, Date: storetest.Timestamp("2024-04-27T12:00:00Z"),
		}
		got := storetest.Read(t, valid)
		got.Item = countersign.Item{}
		expect.Equal(t, storetest.MustJSON(t, got), storetest.MustJSON(t, want))
		if !strings.HasPrefix(valid.Item.Text(), `{"id":1,`) || strings.Contains(valid.Before+valid.After, "inbox.example") {
			t.Errorf("item %s", valid.Item.Text())
		}
	})
}

func TestCodesAsPeoplePasteThem(t *testing.T) {
	long := strings.Repeat("x", 128)
	cases := []struct{ name, stored, asked, want string }{
		{"as it is stored", "Code-1a", "Code-1a", ""},
		{"in upper case", "code-2a", "CODE-2A", ""},
		{"in lower case", "CODE-3A", "code-3a", ""},
		{"with spaces around it", "code-4", "\t code-4 \r\n", ""},
		{"the longest one", long, strings.ToUpper(long), ""},
		{"with a space inside it", "code 6", "code 6", ""},
		{"punctuation is not folded", "code-[7]", "code-{7}", "purchase_not_found"},
		{"a letter less", "code-8", "code-", "purchase_not_found"},
		{"too long", "code-9", long + "x", "purchase_not_found"},
		{"nothing", "code-10", "", "purchase_not_found"},
		{"NUL", "code-11", "code-11\x00", "purchase_not_found"},
		{"invalid UTF-8", "code-12", "code-12\xff", "purchase_not_found"},
		{"a letter that Unicode would fold", "kode-13", "\u212aode-13", "purchase_not_found"},
		{"a wildcard", "code-14", "code-1%", "purchase_not_found"},
		{"a statement", "code-15", "' OR 1=1 --", "purchase_not_found"},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		actor := f.ActorOf(t, token)
		for _, c := range cases {
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, c.stored)))
			valid, err := f.Validation.Validate(t.Context(), actor, c.asked)
			expect.Equalf(t, storetest.CodeOf(err), c.want, "%s: code", c.name)
			if err == nil && storetest.Read(t, valid).PurchaseCode != c.stored {
				t.Errorf("%s: printed %q, stored %q", c.name, storetest.Read(t, valid).PurchaseCode, c.stored)
			}
		}
	})
}

func TestCheckPurchaseSaysWhy(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f.MustImport(t, storetest.SoldCodes()+storetest.Lines(
			storetest.PurchaseText("ada", 1, "dated", `"state":"charged_back"`, `"state_at":"2026-10-02T23:59:59Z"`)))
		cases := []struct{ code, wantCode, reason, workspace string }{
			{"code-3-active", "", "", "bob"},
			{" CODE-1-ACTIVE ", "", "", "ada"},
			{"code-1-refunded", "purchase_refunded", "this purchase was refunded", "ada"},
			{"code-1-revoked", "purchase_revoked", "this purchase was revoked", "ada"},
			{"dated", "purchase_charged_back", "this purchase was charged back on 2026-10-02", "ada"},
			{"nowhere", "purchase_not_found", "no purchase has this code", ""},
			{token, "purchase_not_found", "this is an API key, not a purchase code", ""},
			{"", "purchase_not_found", "invalid purchase code: expected 1 to 128 printable ASCII characters", ""},
		}
		for _, c := range cases {
			got, err := f.Validation.Check(t.Context(), storetest.Operator, c.code)
			if err != nil || got.Valid != (c.wantCode == "") || got.Code != c.wantCode || got.Reason != c.reason || got.Workspace != c.workspace {
				t.Errorf("%q: %+v, %v", c.code, got, err)
			}
			if found := c.workspace != ""; found != (got.Item.ID != 0) || found != (got.Purchase.Code != "") {
				t.Errorf("%q: purchase %+v of item %d", c.code, got.Purchase, got.Item.ID)
			}
		}
		_, err := f.Validation.Show(t.Context(), storetest.Operator, "nowhere")
		storetest.WantError(t, err, "purchase_not_found")
		if shown, err := f.Validation.Show(t.Context(), storetest.Operator, "dated"); err != nil || shown.Purchase.Code != "dated" {
			t.Errorf("%+v, %v", shown, err)
		}
	})
}

func TestAKeyOfAnotherWorkspaceIsAnUnknownCode(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		staff := f.Staff(t)
		for who, want := range map[string]string{
			"stranger": "no purchase has this code", "viewer": "this is an API key, not a purchase code", "administrator": "this is an API key, not a purchase code",
		} {
			if got, err := f.Validation.Check(t.Context(), staff[who], token); err != nil || got.Reason != want {
				t.Errorf("%s: %q, %v", who, got.Reason, err)
			}
		}
	})
}
