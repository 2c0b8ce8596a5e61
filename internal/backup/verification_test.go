package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

func isForbidden(err error) bool { return fault.HasKind(err, countersign.KindForbidden) }

func TestVerificationsOfThisDatabaseAreRecorded(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		k, ctx := s.store.Instance.Backups, t.Context()
		if _, known, err := k.LastVerified(ctx); known || err != nil {
			t.Errorf("before any: %v, %v", known, err)
		}
		made := must.Get(k.Create(ctx, operator, backup.CreateOptions{}))(t)
		from := backup.Source{File: made.File}
		info := must.Get(k.Service.Verify(ctx, from))(t)
		if recorded, err := k.RecordVerification(ctx, operator, from, info, nil); !recorded || err != nil {
			t.Errorf("recorded %v, %v", recorded, err)
		}
		list, err := k.Verifications(ctx, operator)
		if err != nil || len(list) != 1 || list[0].Rows != made.Info.Rows() || !list[0].CreatedAt.Equal(noon) || backup.Recorded(list, from) != list[0] {
			t.Errorf("%+v, %v", list, err)
		}
		foreign := info
		foreign.Header.Key = "another"
		for _, one := range []backup.Info{foreign, {}} {
			if recorded, err := k.RecordVerification(ctx, operator, from, one, nil); recorded || err != nil {
				t.Errorf("a foreign one: recorded %v, %v", recorded, err)
			}
		}
	})
}

func TestADamagedBackupIsRecordedAndNotTheNewestVerified(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	k, ctx := s.store.Instance.Backups, t.Context()
	s.set(on(time.Hour))
	s.run(true)
	s.now = noon.Add(time.Hour)
	made := must.Get(k.Create(ctx, operator, backup.CreateOptions{}))(t)
	text, err := os.ReadFile(made.File)
	if err == nil {
		err = os.WriteFile(made.File, text[:len(text)-1], 0o600)
	}
	must.Do(t, err)
	from := backup.Source{File: made.File}
	info, failed := k.Service.Verify(ctx, from)
	wantCode(t, failed, countersign.KindInvalid, backup.CodeDamaged)
	if recorded, err := k.RecordVerification(ctx, operator, from, info, failed); !recorded || err != nil {
		t.Errorf("recorded %v, %v", recorded, err)
	}
	list, err := k.Verifications(ctx, operator)
	if err != nil || len(list) != 2 || list[0].Problem == "" {
		t.Errorf("%+v, %v", list, err)
	}
	if at, known, err := k.LastVerified(ctx); !known || err != nil || !at.Equal(noon) {
		t.Errorf("last verified %v, %v, %v", at, known, err)
	}
}

func TestAVerifiedBackupThatIsDamagedLaterIsRecordedAsDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"its beginning": func(text []byte) []byte { return append([]byte("notes"), text[5:]...) },
		"all of it":     func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			k, ctx := s.store.Instance.Backups, t.Context()
			s.set(on(time.Hour))
			s.run(true)
			from := backup.Source{File: s.schedule().File}
			text, err := os.ReadFile(from.File)
			if err == nil {
				err = os.WriteFile(from.File, damage(text), 0o600)
			}
			must.Do(t, err)
			info, failed := k.Service.Verify(ctx, from)
			wantCode(t, failed, countersign.KindInvalid, backup.CodeDamaged)
			if recorded, err := k.RecordVerification(ctx, operator, from, info, failed); !recorded || err != nil {
				t.Errorf("recorded %v, %v", recorded, err)
			}
			if at, known, err := k.LastVerified(ctx); known || err != nil {
				t.Errorf("last verified %v, %v", at, err)
			}
			other := backup.Source{File: from.File + ".other"}
			if recorded, err := k.RecordVerification(ctx, operator, other, info, failed); recorded || err != nil {
				t.Errorf("one without a record: %v, %v", recorded, err)
			}
		})
	}
}

func TestABackupOfTheFutureCountsAsOfItsVerification(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	k, ctx := s.store.Instance.Backups, t.Context()
	made := must.Get(k.Create(ctx, operator, backup.CreateOptions{}))(t)
	made.Info.Header.CreatedAt = noon.AddDate(10, 0, 0)
	must.Get(k.RecordVerification(ctx, operator, backup.Source{File: made.File}, made.Info, nil))(t)
	if at, _, err := k.LastVerified(ctx); err != nil || !at.Equal(noon) {
		t.Errorf("last verified %v, %v", at, err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	for _, c := range []struct {
		rule   string
		keep   backup.Keep
		spared int // of the backups of each day, the newest first; -1 for none
		left   []int
	}{
		{"all without a rule", backup.Keep{}, -1, []int{0, 1, 2, 3, 4}},
		{"the newest by count", backup.Keep{Count: 2}, -1, []int{0, 1}},
		{"the young by age", backup.Keep{Age: 3 * days}, -1, []int{0, 1, 2}},
		{"those of either rule", backup.Keep{Count: 1, Age: 2 * days}, -1, []int{0, 1}},
		{"the newest however old", backup.Keep{Age: time.Second}, -1, []int{0}},
		{"the newest verified one", backup.Keep{Count: 1}, 3, []int{0, 3}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			k := s.store.Instance.Backups
			folder := k.Service.Folder()
			must.Do(t, os.MkdirAll(folder, 0o700))
			key := keyfile.KeyName(k.Box().Check())
			name := func(age int) string {
				return filepath.Join(folder, "store-"+noon.AddDate(0, 0, -age).Format("20060102T150405Z")+"-"+key+".backup")
			}
			foreign := []string{"addon-20200101T000000Z-" + key + ".backup", "store-20200101T000000Z.db", "store-notes.backup", "store-20200101T000000Z-" + key + ".backup.old"}
			foreign = append(foreign, "store-20200101T000000Z-0123abcd.backup", "store-20200101T000000Z.backup") // of another store in the place
			for _, one := range foreign {
				write(t, filepath.Join(folder, one))
			}
			for age := range 5 {
				write(t, name(age))
			}
			if c.spared >= 0 {
				recordAs(t, s, name(c.spared), noon.AddDate(0, 0, -c.spared))
			}
			must.Get(k.Prune(t.Context(), operator, backup.Destination{}, c.keep))(t)
			left := slices.DeleteFunc(s.files(backup.Destination{}), func(f backup.File) bool { return f.Key != key })
			if len(left) != len(c.left) {
				t.Fatalf("left %+v", left)
			}
			for i, age := range c.left {
				expect.Equalf(t, left[i].Path, name(age), "left")
			}
			for _, one := range foreign {
				if _, err := os.Stat(filepath.Join(folder, one)); err != nil {
					t.Errorf("a foreign file: %v", err)
				}
			}
		})
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 10), 0o600))
}

// recordAs records a file as a whole backup of a time.
func recordAs(t *testing.T, s *server, file string, at time.Time) {
	t.Helper()
	key := must.Get(s.store.Instance.Backups.DB.Queries().Meta(t.Context(), "key_check"))(t)
	info := backup.Info{Header: backup.Header{Key: key, CreatedAt: at}}
	if recorded, err := s.store.Instance.Backups.RecordVerification(t.Context(), operator, backup.Source{File: file}, info, nil); !recorded || err != nil {
		t.Fatalf("recorded %v, %v", recorded, err)
	}
}
