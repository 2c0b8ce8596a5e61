package requests

import (
	"testing"

	"github.com/countersign/countersign/internal/sqldb"
)

// blocks returns how many blocks there are.
func (f *fixture) blocks(t *testing.T) int64 {
	t.Helper()
	n, err := sqldb.One(t.Context(), f.db.Queries(), sqldb.Value[int64], `SELECT count(*) FROM request_blocks`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
