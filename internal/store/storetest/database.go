package storetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Audits lists the audit log as "action workspace subject", oldest first.
func (f *Fixture) Audits(t testing.TB) []string {
	t.Helper()
	list := must.Get(f.DB().Audits(t.Context(), peopledb.AuditFilter{Limit: 1000}))(t)
	var texts []string
	for _, a := range slices.Backward(list) {
		texts = append(texts, strings.TrimSpace(string(a.Action)+" "+a.Workspace+" "+a.Subject))
	}
	return texts
}

// NewestAudit is the newest entry of the audit log.
func (f *Fixture) NewestAudit(t testing.TB) peopledb.Audit {
	t.Helper()
	list, err := f.DB().Audits(t.Context(), peopledb.AuditFilter{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// Execute runs statements beside the store, as another program would: nobody is told.
func (f *Fixture) Execute(t testing.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		must.Get(f.DB().Exec(t.Context(), statement))(t)
	}
}

// Rows counts the rows of a table.
func (f *Fixture) Rows(t testing.TB, table string) int64 {
	t.Helper()
	return must.Get(sqldb.One(t.Context(), f.DB().Queries, sqldb.Value[int64], `SELECT count(*) FROM `+table))(t)
}

// Dump reads all text and blobs of a table.
func (f *Fixture) Dump(t testing.TB, table string) string {
	t.Helper()
	if f.At.Engine == dbtest.Postgres {
		rows := must.Get(sqldb.List(t.Context(), f.DB().Queries, sqldb.Value[string], `SELECT row_to_json(t)::text FROM "`+table+`" t`))(t)
		return strings.Join(rows, "\n")
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	must.Do(t, f.DB().Session(t.Context(), func(session *storedb.DB) error { // which puts it in no transaction
		_, err := session.Exec(t.Context(), `VACUUM INTO $1`, path)
		return err
	}))
	return string(must.Get(os.ReadFile(path))(t))
}

// Damage overwrites a SQLite file behind its second page, as a failing disk does.
func Damage(t testing.TB, path string) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	const start = 2 * 4096
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte("\xa5"), int(info.Size()-start)), start)
		err = errors.Join(err, file.Close())
	}
	must.Do(t, err)
}
