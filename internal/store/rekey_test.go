package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// rekeyable is a store with purchases and three keys: one rotated, one imported,
// one without anything special.
type rekeyable struct {
	*storetest.Fixture
	tokens map[string]string // key's name → current value
}

// newRekeyable takes a copy of twoShopsStore.
func newRekeyable(t *testing.T, place dbtest.DB) rekeyable {
	t.Helper()
	r := rekeyable{storetest.Prepared(t, place), map[string]string{}}
	r.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "Code-A"), storetest.PurchaseText("bob", 3, "code-b", `"state":"refunded"`),
		storetest.KeyText("bob", "imported", `"key":"bobs-key-0123456789"`)))
	r.tokens["imported"] = "bobs-key-0123456789"
	_, r.tokens["plain"] = r.MustCreate(t, store.NewKey{Workspace: "ada", Name: "plain"})
	k, first := r.MustCreate(t, store.NewKey{Workspace: "ada", Name: "rotated"})
	_, second, err := r.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, "")
	must.Do(t, err)
	r.tokens["rotated"], r.tokens["rotated before"] = second, first
	return r
}

// unlocked opens the store without preparing it, as the command rekey does.
func (r rekeyable) unlocked(t *testing.T) *storetest.Fixture {
	t.Helper()
	return r.Unprepared(t)
}

// wantServed wants a store to answer for all purchases and keys.
func (r rekeyable) wantServed(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	for name, token := range r.tokens {
		if _, err := f.Validation.Authenticate(t.Context(), token, storetest.Client); err != nil {
			t.Errorf("the key %s: %v", name, err)
		}
	}
	if _, err := f.Validation.Validate(t.Context(), f.ActorOf(t, r.tokens["plain"]), "CODE-a"); err != nil {
		t.Errorf("a good code: %v", err)
	}
	if token := r.tokens["imported"]; token != "" {
		_, err := f.Validation.Validate(t.Context(), f.ActorOf(t, token), "code-b")
		storetest.WantError(t, err, "purchase_refunded")
	}
}

// wantShown wants the values of keys to be shown again, or not.
func (r rekeyable) wantShown(t *testing.T, f *storetest.Fixture, code string) {
	t.Helper()
	for _, name := range []string{"plain", "rotated", "imported"} {
		workspace := map[string]string{"imported": "bob"}[name]
		if workspace == "" {
			workspace = "ada"
		}
		_, shown, err := f.RevealKey(t.Context(), storetest.Operator, f.KeyNamed(t, workspace, name).ID)
		if storetest.CodeOf(err) != code || (err == nil && shown != r.tokens[name]) {
			t.Errorf("the key %s shows %q, %v; want the code %q", name, shown, err, code)
		}
	}
}

func names(keys []store.Key) (list []string) {
	for _, k := range keys {
		list = append(list, k.Workspace+"/"+k.Name)
	}
	return list
}

// keyFiles lists the key files of a data folder by the check values of what is in
// them, the one in place first.
func keyFiles(t *testing.T, dir string) (list []string) {
	t.Helper()
	paths := must.Get(filepath.Glob(filepath.Join(dir, keyfile.FileName+"*")))(t)
	slices.Sort(paths)
	for _, path := range paths {
		content := must.Get(os.ReadFile(path))(t)
		box, err := keyfile.Parse(string(content))
		if err != nil {
			list = append(list, "unreadable")
			continue
		}
		list = append(list, box.Check())
	}
	return list
}

func TestRekey(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		before  func(t *testing.T, place dbtest.DB)
		dropped bool
		kept    int // key files that are put aside
	}{
		{"with the key file, everything is sealed anew", func(*testing.T, dbtest.DB) {}, false, 1},
		{"without it, what was sealed is dropped", func(t *testing.T, place dbtest.DB) { remove(t, keyFile(place)) }, true, 0},
		{"with another's, what was sealed is dropped and the file kept", func(t *testing.T, place dbtest.DB) {
			remove(t, keyFile(place))
			must.Get(keyfile.Create(place.Dir))(t)
		}, true, 1},
		{"with half a file, what was sealed is dropped and the file kept", func(t *testing.T, place dbtest.DB) {
			write(t, keyFile(place), "countersign-key-1:AAAA")
		}, true, 1},
		{"with an abandoned successor, that is forgotten", func(t *testing.T, place dbtest.DB) {
			must.Get(keyfile.Stage(place.Dir))(t)
		}, false, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
				r := newRekeyable(t, place)
				old := r.Instance.Gate.Box().Check()
				c.before(t, place)
				aside := keyFiles(t, place.Dir)
				f := r.unlocked(t)
				plan := must.Get(f.PlanRekey(t.Context()))(t)
				done := must.Get(f.Rekey(t.Context(), storetest.Operator))(t)
				want := []string(nil)
				if c.dropped {
					want = []string{"ada/plain", "ada/rotated", "bob/imported"}
				}
				if !slices.Equal(names(plan.Dropped), want) || !slices.Equal(names(done.Dropped), want) {
					t.Errorf("planned to drop %q, dropped %q; want %q", names(plan.Dropped), names(done.Dropped), want)
				}
				code := map[bool]string{true: "key_not_kept"}[c.dropped]
				if c.dropped { // its digest was made with the key file
					want = []string{"bob/imported"}
					delete(r.tokens, "imported")
				}
				if !slices.Equal(names(plan.Ended), want) || !slices.Equal(names(done.Ended), want) {
					t.Errorf("planned to end %q, ended %q; want %q", names(plan.Ended), names(done.Ended), want)
				}
				for _, g := range []*storetest.Fixture{f, r.Again(t)} {
					r.wantServed(t, g)
					r.wantShown(t, g, code)
				}
				files := keyFiles(t, place.Dir)
				if len(files) != 1+c.kept || files[0] == old || files[0] != f.Instance.Gate.Box().Check() {
					t.Errorf("key files %q", files)
				}
				if c.kept == 1 && files[1] != aside[0] {
					t.Errorf("put aside is %q, want %q", files[1], aside[0])
				}
				if !slices.Contains(f.Audits(t), "store.rekey") {
					t.Error("the rekey is not written down")
				}
			})
		})
	}
}

// More purchases than are read at once.
func TestRekeyOfManyPurchases(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		const n = 10_600
		var file strings.Builder
		file.WriteString(storetest.TwoShops)
		for i := range n {
			file.WriteString(storetest.PurchaseText("ada", 1, fmt.Sprintf("Code-%d", i)) + "\n")
		}
		f.MustImport(t, file.String())
		f.MustRekey(t)
		for i := range n {
			if i%1000 != 0 && i != n-1 {
				continue
			}
			if got, err := f.Validation.Check(t.Context(), storetest.Operator, fmt.Sprintf("CODE-%d", i)); err != nil || !got.Valid {
				t.Errorf("code %d: %+v, %v", i, got, err)
			}
		}
		expect.Equalf(t, f.Rows(t, "purchases"), n, "purchases")
	})
}

// A rekey that was interrupted after its commit is ended by whoever comes next,
// and no key file is lost.
func TestInterruptedRekeyIsFinished(t *testing.T) {
	t.Parallel()
	interrupted := map[string]func(t *testing.T, place dbtest.DB, oldFile, newFile []byte){
		"before the old key file was put aside": func(t *testing.T, place dbtest.DB, oldFile, newFile []byte) {
			write(t, keyFile(place), string(oldFile))
			write(t, keyFile(place)+".new", string(newFile))
		},
		"before the new one was put in place": func(t *testing.T, place dbtest.DB, oldFile, newFile []byte) {
			remove(t, keyFile(place))
			write(t, keyFile(place)+".old", string(oldFile))
			write(t, keyFile(place)+".new", string(newFile))
		},
		"of a store whose key file was lost": func(t *testing.T, place dbtest.DB, _, newFile []byte) {
			remove(t, keyFile(place))
			write(t, keyFile(place)+".new", string(newFile))
		},
	}
	next := map[string]func(t *testing.T, f *storetest.Fixture){
		"a command": func(t *testing.T, f *storetest.Fixture) {
			must.Do(t, f.Prepare(t.Context()))
		},
		"another rekey": func(t *testing.T, f *storetest.Fixture) {
			plan, err := f.PlanRekey(t.Context())
			if err != nil || len(plan.Dropped) > 0 {
				t.Errorf("plans to drop %q, %v", names(plan.Dropped), err)
			}
			f.MustRekey(t)
		},
	}
	for when, interrupt := range interrupted {
		for who, comes := range next {
			t.Run(when+", then "+who, func(t *testing.T) {
				storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
					r := newRekeyable(t, place)
					oldFile := must.Get(os.ReadFile(keyFile(place)))(t)
					f := r.unlocked(t)
					f.MustRekey(t)
					newFile := must.Get(os.ReadFile(keyFile(place)))(t)
					for _, path := range asideFiles(t, place) {
						remove(t, path)
					}
					interrupt(t, place, oldFile, newFile)
					had := keyFiles(t, place.Dir)
					g := r.unlocked(t)
					comes(t, g)
					r.wantServed(t, g)
					r.wantShown(t, g, "")
					has := keyFiles(t, place.Dir)
					for _, check := range had {
						if !slices.Contains(has, check) {
							t.Errorf("a key file is lost: had %q, has %q", had, has)
						}
					}
					if _, err := keyfile.LoadStaged(place.Dir); err == nil {
						t.Error("the successor is still staged")
					}
				})
			})
		}
	}
}

// asideFiles lists the key files that are not in place.
func asideFiles(t *testing.T, place dbtest.DB) []string {
	t.Helper()
	return must.Get(filepath.Glob(keyFile(place) + ".*"))(t)
}

func TestRekeyThatFailsChangesNothing(t *testing.T) {
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		q := r.DB().Queries
		refuse := []string{`CREATE TRIGGER refuse BEFORE INSERT ON audit WHEN NEW.action = 'store.rekey' BEGIN SELECT RAISE(ABORT, 'refused'); END`}
		if place.Engine == dbtest.Postgres {
			refuse = []string{`ALTER TABLE audit ADD CHECK (action <> 'store.rekey')`}
		}
		for _, statement := range refuse {
			must.Get(q.Exec(t.Context(), statement))(t)
		}
		if _, err := r.unlocked(t).Rekey(t.Context(), storetest.Operator); err == nil {
			t.Fatal("it went through")
		}
		g := r.Again(t)
		r.wantServed(t, g)
		r.wantShown(t, g, "")
		r.wantServed(t, r.Fixture)
	})
}

func TestRekeyRefuses(t *testing.T) {
	place := dbtest.New(t, dbtest.SQLite)
	c := storetest.NewClock()
	_, err := storetest.Opened(t, storetest.OptionsOf(place, c)).PlanRekey(t.Context())
	storetest.WantError(t, err, "schema_empty")
	content := func() string {
		storetest.Prepared(t, place)
		return string(must.Get(os.ReadFile(keyFile(place)))(t))
	}()
	o := storetest.OptionsOf(place, c)
	o.KeyText = content
	_, err = storetest.Opened(t, o).Rekey(t.Context(), storetest.Operator)
	storetest.WantError(t, err, "invalid")
}
