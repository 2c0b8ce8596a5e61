package licensing_test

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestTheFirstKeyIsMadeWhenItIsNeeded(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		expect.Equalf(t, f.Rows(t, "license_keys"), 0, "there is a key before any license")
		f.Start(t, f.Licensing.Database())
		other := f.Again(t)
		other.Start(t, other.Licensing.Database())
		var all sync.WaitGroup
		for range 50 {
			for _, process := range []*storetest.Fixture{f, other} {
				all.Go(func() {
					if _, err := process.Licensing.KeySet(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		expect.Equalf(t, f.Rows(t, "license_keys"), 1, "keys")
	})
}

func TestARotationLeavesEarlierLicensesGood(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Start(t, f.Licensing.Database())
		before := f.Issue(t, "one", "shop.example")
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		k := must.Get(f.Licensing.RotateKey(t.Context(), storetest.Operator, false))(t)
		if f.Opens(t, before) != nil || f.KeySet(t).Len() != 2 {
			t.Error("the license from before does not open")
		}
		after := f.Issue(t, "one", "shop.example")
		if after.Text == before.Text || after.License.ID != before.License.ID || f.Opens(t, after) != nil {
			t.Error("the new key does not sign")
		}
		if got := f.Audits(t); got[len(got)-1] != "license_key.rotate  "+k.ID {
			t.Errorf("%q", got[len(got)-1])
		}
		// Another process hears of it.
		if f.Again(t).Opens(t, after) != nil {
			t.Error("the license does not open elsewhere")
		}
	})
}

func TestDroppedKeysOpenNothing(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Start(t, f.Licensing.Database())
		before := f.Issue(t, "one", "shop.example")
		must.Get(f.Licensing.RotateKey(t.Context(), storetest.Operator, true))(t)
		if f.Opens(t, before) == nil || f.KeySet(t).Len() != 1 {
			t.Error("a dropped key still opens licenses")
		}
		if f.Opens(t, f.Issue(t, "one", "shop.example")) != nil {
			t.Error("the license that is issued again does not open")
		}
	})
}

func TestThereAreAsManyKeysAsClientsRead(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for range 32 {
			must.Get(f.Licensing.RotateKey(t.Context(), storetest.Operator, false))(t)
		}
		expect.Equalf(t, f.KeySet(t).Len(), 32, "keys")
		_, err := f.Licensing.RotateKey(t.Context(), storetest.Operator, false)
		storetest.WantError(t, err, "license_keys_full")
		if _, err := f.Licensing.RotateKey(t.Context(), storetest.Operator, true); err != nil || f.KeySet(t).Len() != 1 {
			t.Errorf("%v, %d keys", err, f.KeySet(t).Len())
		}
	})
}

// The seed is in the database only under the key file, and in no export.
func TestThePrivateKeyIsSealedAndNeverExported(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "shop.example")
		list, err := f.Licensing.Keys(t.Context(), storetest.Operator)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d keys, %v", len(list), err)
		}
		signed := list[0].ID
		seed, err := f.Licensing.Box().Open("license key "+list[0].ID, list[0].Sealed)
		must.Do(t, err)
		kept := f.Dump(t, "license_keys")
		export := f.MustExport(t, true)
		for _, form := range []string{string(seed), base64.RawURLEncoding.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed), hex.EncodeToString(seed)} {
			if strings.Contains(kept, form) || strings.Contains(export, form) {
				t.Error("the private key is in clear")
			}
		}
		if strings.Contains(export, "sealed") || strings.Contains(export, hex.EncodeToString(list[0].Sealed)) || strings.Contains(export, base64.RawURLEncoding.EncodeToString(list[0].Sealed)) {
			t.Error("the sealed private key is in the export")
		}
		must.Get(f.Licensing.RotateKey(t.Context(), storetest.Operator, false))(t)
		list, err = f.Licensing.Keys(t.Context(), storetest.Operator)
		for _, k := range list {
			if (k.ID == signed) != (k.Sealed == nil && !k.RetiredAt.IsZero()) {
				t.Errorf("%+v, %v: a key that signs no more keeps no private part", k, err)
			}
		}
	})
}

func TestARekeyKeepsLicensesAndTheirKey(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.Issue(t, "one", "shop.example")
		plan, err := f.Rekey(t.Context(), storetest.Operator)
		if err != nil || plan.LicenseKey != "" {
			t.Fatalf("%+v, %v", plan, err)
		}
		after := f.Issue(t, "one", "shop.example")
		if f.Opens(t, before) != nil || f.Opens(t, after) != nil || after.License.ID != before.License.ID {
			t.Error("licenses are not what they were")
		}
		expect.Equalf(t, f.KeySet(t).Len(), 1, "keys")
		got, err := f.Licensing.Check(t.Context(), storetest.Buyer, licensing.CheckRequest{ID: before.License.ID, Domain: "shop.example"})
		if err != nil || !got.Valid {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestARekeyWithoutTheOldKeyFileMakesANewKeyForLicenses(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.Issue(t, "one", "shop.example")
		must.Do(t, os.Remove(filepath.Join(f.At.Dir, keyfile.FileName)))
		list := must.Get(f.Licensing.Keys(t.Context(), storetest.Operator))(t)
		plan, err := f.Rekey(t.Context(), storetest.Operator)
		if err != nil || plan.LicenseKey != list[0].ID {
			t.Fatalf("%+v, %v", plan, err)
		}
		after := f.Issue(t, "one", "shop.example")
		if f.Opens(t, before) != nil || f.Opens(t, after) != nil || after.Text == before.Text || f.KeySet(t).Len() != 2 {
			t.Error("the old license and the new one should both open")
		}
	})
}

// A rekey can leave one key more than clients read.
func TestTheKeySetIsNeverLongerThanClientsRead(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for range 32 {
			must.Get(f.Licensing.RotateKey(t.Context(), storetest.Operator, false))(t)
		}
		must.Do(t, os.Remove(filepath.Join(f.At.Dir, keyfile.FileName)))
		f.MustRekey(t)
		if err := f.Opens(t, f.Issue(t, "one", "shop.example")); err != nil || f.KeySet(t).Len() != 32 || f.Rows(t, "license_keys") != 33 {
			t.Errorf("%v, %d keys", err, f.KeySet(t).Len())
		}
	})
}
