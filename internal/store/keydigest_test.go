package store_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/token"
)

// imported are keys that came from another shop: one with an earlier value, one alone.
const (
	importedKey      = "bobs-key-0123456789"
	importedBefore   = "bobs-key-before-012"
	importedUnopened = "bobs-key-unopenable"
)

func importedKeys() string {
	return storetest.Lines(
		storetest.KeyText("bob", "imported", `"key":"`+importedKey+`"`, `"previous_key":"`+importedBefore+`"`, `"previous_expires_at":"2100-01-01T00:00:00Z"`),
		storetest.KeyText("bob", "unopenable", `"key":"`+importedUnopened+`"`),
	)
}

// age makes the store as the version before keyed digests would have left it: plain
// digests of all keys, and one sealed value that nothing opens.
func age(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	must.Do(t, f.DB().Tx(t.Context(), func(tx *storedb.DB) error {
		keys, err := tx.Keys(t.Context())
		if err != nil {
			return err
		}
		plain := func(digest *storedb.KeyDigest, sealed *[]byte) {
			value, _ := rules.OpenKeyValue(f.Instance.Gate.Box(), *digest, *sealed)
			*digest = token.Digest(value)
			*sealed = rules.SealKeyValue(f.Instance.Gate.Box(), *digest, value)
		}
		for _, k := range keys {
			plain(&k.Digest, &k.Sealed)
			if k.Previous != nil {
				plain(k.Previous, &k.PreviousSealed)
			}
			if k.Name == "unopenable" {
				k.Sealed = []byte("sealed with a key file that is gone")
			}
			if err := tx.UpdateKey(t.Context(), k); err != nil {
				return err
			}
		}
		return execAll(t.Context(), tx, append(withoutIDs(f.Instance.Database.Engine()),
			`DELETE FROM meta WHERE name = 'key_digests'`, `DELETE FROM store_versions WHERE version_id > 3`, `DROP TABLE limits`))
	}))
}

func wantOpens(t *testing.T, f *storetest.Fixture, values ...string) {
	t.Helper()
	for _, value := range values {
		if _, err := f.Validation.Authenticate(t.Context(), value, storetest.Client); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestAnImportedKeyIsFoundByAKeyedDigest(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, importedKeys())
		made, value := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "ours"})
		k := f.KeyNamed(t, "bob", "imported")
		if k.Digest == token.Digest(importedKey) || *k.Previous == token.Digest(importedBefore) {
			t.Error("whoever reads the database can try short keys against a plain digest")
		}
		expect.Equalf(t, made.Digest, token.Digest(value), "a key of ours depends on the key file")
		wantOpens(t, f, value, importedKey, importedBefore)
		f.FillKeyCache(t)
		wantOpens(t, f, value, importedKey, importedBefore)
		if report := f.MustImport(t, importedKeys()); report.Keys.Same != 2 {
			t.Errorf("the same file again: %+v", report.Keys)
		}
	})
}

func TestAMigrationKeysTheDigestsOfImportedKeys(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, importedKeys())
		_, value := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "ours"})
		age(t, f)
		storetest.WantError(t, f.Unprepared(t).Prepare(t.Context()), "schema_older")
		g := f.Unprepared(t)
		must.Do(t, g.PrepareToServe(t.Context()))
		if backups, _ := filepath.Glob(filepath.Join(f.At.Dir, "backups", "store-*")); len(backups) != 1 {
			t.Errorf("backups %q", backups)
		}
		k := g.KeyNamed(t, "bob", "imported")
		if k.Digest != g.Instance.Gate.Box().KeyDigest(importedKey) || *k.Previous != g.Instance.Gate.Box().KeyDigest(importedBefore) {
			t.Error("the digests are still plain")
		}
		if k := g.KeyNamed(t, "bob", "unopenable"); k.Digest != token.Digest(importedUnopened) {
			t.Error("the digest of a value that can't be opened was changed")
		}
		all := []string{value, importedKey, importedBefore, importedUnopened}
		wantOpens(t, g, all...)
		g.FillKeyCache(t)
		wantOpens(t, g, all...)
		if _, shown, err := g.RevealKey(t.Context(), storetest.Operator, k.ID); err != nil || shown != importedKey {
			t.Errorf("shown %q, %v", shown, err)
		}
		wantOpens(t, g.Again(t), all...)
	})
}

func TestManyServersKeyTheDigestsOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, importedKeys())
		age(t, f)
		must.Get(f.Migrate(t.Context()))(t)
		var all sync.WaitGroup
		for range 4 {
			s := f.Unprepared(t)
			all.Go(func() {
				expect.NoError(t, s.Prepare(t.Context()))
			})
		}
		all.Wait()
		wantOpens(t, f.Again(t), importedKey, importedBefore, importedUnopened)
	})
}

func TestAnImportKeysADigestThatNothingElseCould(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, importedKeys())
		age(t, f)
		g := f.Unprepared(t)
		must.Do(t, g.PrepareToServe(t.Context()))
		_, rejected := g.ImportText(t, storetest.Lines(storetest.KeyText("ada", "thief", `"key":"`+importedUnopened+`"`)), transfer.ImportOptions{})
		expect.Equalf(t, len(rejected), 1, "another key took its value: %v", rejected)
		g.MustImport(t, importedKeys())
		if k := g.KeyNamed(t, "bob", "unopenable"); k.Digest == token.Digest(importedUnopened) {
			t.Error("the digest is still plain")
		}
		wantOpens(t, g, importedKey, importedBefore, importedUnopened)
	})
}

func TestARotationKeepsTheImportedValueForItsOverlap(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, importedKeys())
		_, value, err := f.RotateKey(t.Context(), storetest.Operator, f.KeyNamed(t, "bob", "imported").ID, time.Hour, "")
		must.Do(t, err)
		wantOpens(t, f, value, importedKey)
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		_, err = f.Validation.Authenticate(t.Context(), importedKey, storetest.Client)
		storetest.WantError(t, err, "key_expired")
	})
}

// A value that can't be opened lost its digest with the key file. Importing it again
// brings it back.
func TestARekeyWithoutTheKeyFileEndsImportedKeys(t *testing.T) {
	t.Parallel()
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		remove(t, keyFile(place))
		f := r.unlocked(t)
		plan := must.Get(f.PlanRekey(t.Context()))(t)
		if !slices.Equal(names(plan.Ended), []string{"bob/imported"}) || !slices.Equal(names(plan.Working()), []string{"ada/plain", "ada/rotated"}) {
			t.Errorf("ends %q, %q go on working", names(plan.Ended), names(plan.Working()))
		}
		f.MustRekey(t)
		_, err := f.Validation.Authenticate(t.Context(), r.tokens["imported"], storetest.Client)
		storetest.WantError(t, err, "key_unknown")
		f.MustImport(t, storetest.Lines(storetest.KeyText("bob", "imported", `"key":"`+r.tokens["imported"]+`"`)))
		wantOpens(t, f, r.tokens["imported"], r.tokens["plain"])
	})
}

// A migration of many keys takes longer than a request may wait.
func TestAMigrationKeysMoreDigestsThanOneWriteHasTimeFor(t *testing.T) {
	t.Parallel()
	place := dbtest.New(t, dbtest.Postgres)
	f := storetest.Prepared(t, place)
	f.MustImport(t, storetest.TwoShops+importedKeys())
	age(t, f)
	f.Execute(t,
		`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'`,
		`CREATE TRIGGER slowly BEFORE UPDATE ON keys FOR EACH ROW EXECUTE FUNCTION slowly()`)
	o := storetest.OptionsOf(place, f.Clock)
	o.Longer = -4500 * time.Millisecond // half a second is left for a write
	expect.NoError(t, storetest.Opened(t, o).PrepareToServe(t.Context()))
}
