package requests

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/requestdb"
)

// searching returns what runs do on a search.
func searching(do func(*search), f Filter) func(*requestdb.DB) error {
	return func(db *requestdb.DB) error {
		s := newSearch(db, f)
		do(&s)
		return nil
	}
}

// tables lists the tables of parts.
func (f *fixture) tables(t *testing.T) (names []string) {
	t.Helper()
	query := `SELECT name FROM sqlite_schema WHERE type = 'table'`
	if f.place.URL != "" {
		query = `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`
	}
	all, err := sqldb.List(t.Context(), f.db.Queries, sqldb.Value[string], query)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if strings.HasPrefix(name, "requests_2") || strings.HasPrefix(name, "request_slots_") {
			names = append(names, name)
		}
	}
	return names
}
