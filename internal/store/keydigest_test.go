package store

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
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
	return lines(
		keyText("bob", "imported", `"key":"`+importedKey+`"`, `"previous_key":"`+importedBefore+`"`, `"previous_expires_at":"2100-01-01T00:00:00Z"`),
		keyText("bob", "unopenable", `"key":"`+importedUnopened+`"`),
	)
}

// age makes the store as the version before keyed digests would have left it: plain
// digests of all keys, and one sealed value that nothing opens.
func (f *fixture) age(t *testing.T) {
	t.Helper()
	err := f.db.Tx(t.Context(), func(tx *storedb.DB) error {
		keys, err := tx.Keys(t.Context())
		if err != nil {
			return err
		}
		plain := func(digest *storedb.KeyDigest, sealed *[]byte) {
			value, _ := rules.OpenKeyValue(f.gate.Box(), *digest, *sealed)
			*digest = token.Digest(value)
			*sealed = rules.SealKeyValue(f.gate.Box(), *digest, value)
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
		return execAll(t.Context(), tx, append(withoutIDs(f.database.Engine()),
			`DELETE FROM meta WHERE name = 'key_digests'`, `DELETE FROM store_versions WHERE version_id > 3`, `DROP TABLE limits`))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) wantOpens(t *testing.T, values ...string) {
	t.Helper()
	for _, value := range values {
		if _, err := f.Validation.Authenticate(t.Context(), value, client); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestAnImportedKeyIsFoundByAKeyedDigest(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, importedKeys())
		made, value := f.mustCreate(t, NewKey{Workspace: "ada", Name: "ours"})
		k := f.keyNamed(t, "bob", "imported")
		if k.Digest == token.Digest(importedKey) || *k.Previous == token.Digest(importedBefore) {
			t.Error("whoever reads the database can try short keys against a plain digest")
		}
		if made.Digest != token.Digest(value) {
			t.Error("a key of ours depends on the key file")
		}
		f.wantOpens(t, value, importedKey, importedBefore)
		f.fillKeyCache(t)
		f.wantOpens(t, value, importedKey, importedBefore)
		if report := f.mustImport(t, importedKeys()); report.Keys.Same != 2 {
			t.Errorf("the same file again: %+v", report.Keys)
		}
	})
}

func TestAMigrationKeysTheDigestsOfImportedKeys(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, importedKeys())
		_, value := f.mustCreate(t, NewKey{Workspace: "ada", Name: "ours"})
		f.age(t)
		wantError(t, opened(t, optionsOf(f.at, f.clock)).Prepare(t.Context()), "schema_older")
		g := &fixture{opened(t, optionsOf(f.at, f.clock)), f.clock, f.at}
		if err := g.PrepareToServe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if backups, _ := filepath.Glob(filepath.Join(f.at.Dir, "backups", "store-*")); len(backups) != 1 {
			t.Errorf("backups %q", backups)
		}
		k := g.keyNamed(t, "bob", "imported")
		if k.Digest != g.gate.Box().KeyDigest(importedKey) || *k.Previous != g.gate.Box().KeyDigest(importedBefore) {
			t.Error("the digests are still plain")
		}
		if k := g.keyNamed(t, "bob", "unopenable"); k.Digest != token.Digest(importedUnopened) {
			t.Error("the digest of a value that can't be opened was changed")
		}
		all := []string{value, importedKey, importedBefore, importedUnopened}
		g.wantOpens(t, all...)
		g.fillKeyCache(t)
		g.wantOpens(t, all...)
		if _, shown, err := g.RevealKey(t.Context(), operator, k.ID); err != nil || shown != importedKey {
			t.Errorf("shown %q, %v", shown, err)
		}
		g.again(t).wantOpens(t, all...)
	})
}

func TestManyServersKeyTheDigestsOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, importedKeys())
		f.age(t)
		if _, err := f.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			s := opened(t, optionsOf(f.at, f.clock))
			all.Go(func() {
				if err := s.Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		f.again(t).wantOpens(t, importedKey, importedBefore, importedUnopened)
	})
}

func TestAnImportKeysADigestThatNothingElseCould(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, importedKeys())
		f.age(t)
		g := &fixture{opened(t, optionsOf(f.at, f.clock)), f.clock, f.at}
		if err := g.PrepareToServe(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, rejected := g.importText(t, lines(keyText("ada", "thief", `"key":"`+importedUnopened+`"`)), transfer.ImportOptions{})
		if len(rejected) != 1 {
			t.Errorf("another key took its value: %v", rejected)
		}
		g.mustImport(t, importedKeys())
		if k := g.keyNamed(t, "bob", "unopenable"); k.Digest == token.Digest(importedUnopened) {
			t.Error("the digest is still plain")
		}
		g.wantOpens(t, importedKey, importedBefore, importedUnopened)
	})
}

func TestARotationKeepsTheImportedValueForItsOverlap(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, importedKeys())
		_, value, err := f.RotateKey(t.Context(), operator, f.keyNamed(t, "bob", "imported").ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		f.wantOpens(t, value, importedKey)
		f.clock.set(noon.Add(time.Hour))
		_, err = f.Validation.Authenticate(t.Context(), importedKey, client)
		wantError(t, err, "key_expired")
	})
}

// A value that can't be opened lost its digest with the key file. Importing it again
// brings it back.
func TestARekeyWithoutTheKeyFileEndsImportedKeys(t *testing.T) {
	t.Parallel()
	twoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		remove(t, keyFile(place))
		f := r.unlocked(t)
		plan, err := f.PlanRekey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names(plan.Ended), []string{"bob/imported"}) || !slices.Equal(names(plan.Working()), []string{"ada/plain", "ada/rotated"}) {
			t.Errorf("ends %q, %q go on working", names(plan.Ended), names(plan.Working()))
		}
		if _, err := f.Rekey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		_, err = f.Validation.Authenticate(t.Context(), r.tokens["imported"], client)
		wantError(t, err, "key_unknown")
		f.mustImport(t, lines(keyText("bob", "imported", `"key":"`+r.tokens["imported"]+`"`)))
		f.wantOpens(t, r.tokens["imported"], r.tokens["plain"])
	})
}

// A migration of many keys takes longer than a request may wait.
func TestAMigrationKeysMoreDigestsThanOneWriteHasTimeFor(t *testing.T) {
	t.Parallel()
	place := dbtest.New(t, dbtest.Postgres)
	f := prepared(t, place)
	f.mustImport(t, twoShops+importedKeys())
	f.age(t)
	for _, statement := range []string{
		`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'`,
		`CREATE TRIGGER slowly BEFORE UPDATE ON keys FOR EACH ROW EXECUTE FUNCTION slowly()`,
	} {
		if _, err := f.database.Queries().Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	o := optionsOf(place, f.clock)
	o.Longer = -4500 * time.Millisecond // half a second is left for a write
	if err := opened(t, o).PrepareToServe(t.Context()); err != nil {
		t.Error(err)
	}
}
