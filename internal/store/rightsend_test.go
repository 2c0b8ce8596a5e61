package store_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// whileWaiting runs call, and act in a transaction that ends while call waits to write. It
// returns the error of call.
func whileWaiting(t *testing.T, f *storetest.Fixture, act func(*storedb.DB) error, call func() error) error {
	t.Helper()
	connections := 1
	if f.At.Engine == dbtest.Postgres {
		connections = 12 // those of sqldb that write
	}
	entered, free, ended := make(chan struct{}), make(chan struct{}), make(chan error, connections)
	hold := func(until chan struct{}, then func(*storedb.DB) error) {
		go func() {
			ended <- storedb.New(f.Instance.Database).Tx(t.Context(), func(tx *storedb.DB) error {
				entered <- struct{}{}
				<-until
				return then(tx)
			})
		}()
		<-entered
	}
	first := make(chan struct{})
	hold(first, act)
	for range connections - 1 {
		hold(free, func(*storedb.DB) error { return nil })
	}
	called := make(chan error, 1)
	go func() { called <- call() }()
	for f.Instance.Database.Status().WritesWaiting == 0 && len(called) == 0 {
		runtime.Gosched()
	}
	expect.Equalf(t, len(called), 0, "it did not wait for a connection that writes")
	close(first)
	err := <-ended
	close(free)
	for range connections - 1 {
		err = errors.Join(err, <-ended)
	}
	must.Do(t, err)
	return <-called
}

// What waits for the database is refused when the rights of its actor end meanwhile.
func TestRightsCountWhenSomethingIsWritten(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code"), storetest.PurchaseText("ada", 1, "licensed")))
		issued := f.Issue(t, "licensed", "shop.example")
		sold := must.Get(f.Validation.Show(t.Context(), storetest.Operator, "a-code"))(t)
		waiting := must.Get(f.Transfer.Upload(t.Context(), storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales())))(t)
		invited, _ := mustInvite(t, f, "eve@home.example", store.RoleViewer)
		k, _ := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "till"})
		owner := f.Staff(t)["owner"]
		ada := must.Get(f.Workspace(t.Context(), storetest.Operator, "ada"))(t)
		ctx := t.Context()
		for name, call := range map[string]func() error{
			"CreateKey": func() error {
				_, _, err := f.CreateKey(ctx, owner, store.NewKey{Workspace: "ada", Name: "late"})
				return err
			},
			"RotateKey": func() error { _, _, err := f.RotateKey(ctx, owner, k.ID, 0, ""); return err },
			"Invite": func() error {
				_, _, err := f.Invite(ctx, owner, "ada", "later@home.example", store.RoleOwner)
				return err
			},
			"Withdraw":     func() error { return f.WithdrawInvitation(ctx, owner, "ada", invited) },
			"SetWorkspace": func() error { _, err := f.SetWorkspace(ctx, owner, "ada", func(*store.Workspace) {}); return err },
			"CreateItem":   func() error { _, err := f.CreateItem(ctx, owner, "ada", from(`{"name":"Rain"}`)); return err },
			"CreatePurchase": func() error {
				_, err := f.CreatePurchase(ctx, owner, "ada", store.Purchase{ItemID: 1, License: "Regular"})
				return err
			},
			"EndPurchase": func() error { _, err := f.EndPurchase(ctx, owner, "a-code", store.StateRefunded); return err },
			"Issue": func() error {
				_, err := f.Licensing.Issue(ctx, owner, storetest.Issuer, "a-code", "site.example")
				return err
			},
			"Reassign": func() error {
				_, err := f.Licensing.Reassign(ctx, owner, storetest.Issuer, issued.ID, "b.example")
				return err
			},
			"Revoke":          func() error { _, err := f.Licensing.Revoke(ctx, owner, issued.ID); return err },
			"SetRule":         func() error { _, err := f.Licensing.SetRule(ctx, owner, 1, "", func(*licensing.Rule) {}); return err },
			"Remove an image": func() error { _, err := f.Media.RemoveProfile(ctx, owner, "ada", media.Avatar); return err },
			"Download link": func() error {
				_, _, err := f.Media.CreateLink(ctx, owner, sold.Purchase.ID, time.Hour)
				return err
			},
			"Upload": func() error {
				_, err := f.Transfer.Upload(ctx, owner, storetest.Uploaded, strings.NewReader("id\n"))
				return err
			},
			"Confirm": func() error { _, err := f.Transfer.Confirm(ctx, owner, waiting, transfer.NewImport{}); return err },
			"Discard": func() error { return f.Transfer.Discard(ctx, owner, waiting) },
		} {
			err := whileWaiting(t, f, func(tx *storedb.DB) error { return tx.DeleteMember(ctx, ada.ID, owner.User) }, call)
			if !fault.HasKind(err, countersign.KindNotFound) {
				t.Errorf("%s after the end of the role: %v", name, err)
			}
			again := store.Member{User: owner.User, Role: store.RoleOwner, Since: sqldb.Time{Time: storetest.Noon}}
			must.Do(t, f.DB().Tx(ctx, func(tx *storedb.DB) error { return tx.SetMember(ctx, ada.ID, again) }))
		}
	})
}

func TestTheRightsOfAnAdministratorCountWhenSomethingIsWritten(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx := t.Context()
		admin := f.Staff(t)["administrator"]
		for name, call := range map[string]func() error{
			"CreateWorkspace": func() error {
				_, err := f.CreateWorkspace(ctx, admin, store.Workspace{Account: countersign.Account{Username: "late", Currency: "EUR"}})
				return err
			},
			"AddMember": func() error {
				_, err := f.AddMember(ctx, admin, "ada", "stranger@shop.example", store.RoleOwner)
				return err
			},
			"CreateKey": func() error {
				_, _, err := f.CreateKey(ctx, admin, store.NewKey{Workspace: "ada", Name: "late"})
				return err
			},
			"RotateKey": func() error { _, err := f.Licensing.RotateKey(ctx, admin, false); return err },
		} {
			err := whileWaiting(t, f, func(tx *storedb.DB) error { return tx.DeleteAdministrator(ctx, admin.User) }, call)
			if !fault.HasCode(err, "not_allowed") && !fault.HasCode(err, "workspace_not_found") {
				t.Errorf("%s after the end of the rights: %v", name, err)
			}
			must.Do(t, f.DB().Tx(ctx, func(tx *storedb.DB) error { return tx.AddAdministrator(ctx, admin.User) }))
		}
	})
}

// endsRights is a file while whose reading something ends.
type endsRights struct {
	*strings.Reader
	end func()
}

func (r endsRights) Read(p []byte) (int, error) {
	r.end()
	return r.Reader.Read(p)
}

func TestAnImportIsRefusedWhoseActorLosesTheRoleMeanwhile(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manager := f.Staff(t)["manager"]
		var once sync.Once
		file := endsRights{strings.NewReader(storetest.PurchaseText("ada", 1, "late")), func() {
			once.Do(func() {
				if _, err := f.RemoveMember(t.Context(), storetest.Operator, "ada", manager.User); err != nil {
					t.Error(err)
				}
			})
		}}
		_, err := f.Transfer.Import(t.Context(), manager, file, transfer.ImportOptions{Workspace: "ada"})
		storetest.WantError(t, err, "workspace_not_found")
		_, err = f.Validation.Show(t.Context(), storetest.Operator, "late")
		storetest.WantError(t, err, "purchase_not_found")
	})
}
