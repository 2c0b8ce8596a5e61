package backup_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
)

func TestADatabaseThatAnotherProgramHasOpenIsNotReplaced(t *testing.T) {
	t.Parallel()
	p := at(t, template.New(t, dbtest.SQLite))
	made := p.create(t, backup.CreateOptions{})
	want := export(t, p.db)
	other := must.Get(sqldb.Open(t.Context(), p.backups.Database))(t)
	_, err := p.backups.Restore(t.Context(), backup.Source{File: made.File})
	wantCode(t, err, countersign.KindConflict, sqldb.CodeInUse)
	must.Do(t, other.Close())
	expect.Equalf(t, export(t, p.db), want, "the content differs after a refused restore")
}

func TestADatabaseThatAServerUsesIsNotReplaced(t *testing.T) {
	t.Parallel()
	db := template.New(t, dbtest.Postgres)
	p := at(t, db)
	made := p.create(t, backup.CreateOptions{})
	with(t, db, func(ctx context.Context, s *store.Store) error {
		ctx, stop := context.WithCancel(ctx)
		live, ended := make(chan struct{}), make(chan error)
		var once sync.Once
		s.Instance.Backups.DB.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { once.Do(func() { close(live) }) }})
		go func() { ended <- s.Run(ctx) }()
		<-live
		_, err := p.backups.Restore(t.Context(), backup.Source{File: made.File})
		wantCode(t, err, countersign.KindConflict, sqldb.CodeInUse)
		stop()
		return <-ended
	})
}

func TestADamagedDatabaseIsKeptAndReplaced(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]byte) []byte{
		"another content": func(text []byte) []byte { return bytes.Repeat([]byte("notes "), len(text)/6) },
		"overwritten pages": func(text []byte) []byte {
			return append(append(bytes.Clone(text[:4096]), bytes.Repeat([]byte{0xff}, 8*4096)...), text[9*4096:]...)
		},
		"cut": func(text []byte) []byte { return text[:50] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := at(t, template.New(t, dbtest.SQLite))
			made := p.create(t, backup.CreateOptions{})
			want := export(t, p.db)
			path := filepath.Join(p.db.Dir, store.Product.DatabaseName())
			text := must.Get(os.ReadFile(path))(t)
			damaged := spoil(text)
			must.Do(t, os.WriteFile(path, damaged, 0o600))
			done := p.restore(t, made.File)
			expect.Equalf(t, export(t, p.db), want, "the content differs from that of the backup")
			if done.Before == "" && len(done.Aside) == 0 {
				t.Errorf("nothing was kept of the damaged file: %+v", done)
			}
		})
	}
}

func TestABackupOfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		made := at(t, db).create(t, backup.CreateOptions{KeyFile: true})
		target := at(t, dbtest.New(t, db.Engine))
		schemas := target.backups.Database.Schemas
		target.backups.Database.Schemas = schemas[:len(schemas)-1] // as a version before the last schema
		from := backup.Source{File: made.File}
		_, err := target.backups.Restore(t.Context(), from)
		wantCode(t, err, countersign.KindConflict, backup.CodeNewer)
		_, err = target.backups.Verify(t.Context(), from)
		wantCode(t, err, countersign.KindConflict, backup.CodeNewer)
		if entries, err := os.ReadDir(target.db.Dir); err != nil || len(entries) != 0 {
			t.Errorf("a refused restore wrote %v, %v", entries, err)
		}
	})
}
