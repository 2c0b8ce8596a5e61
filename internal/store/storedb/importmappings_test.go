package storedb

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestAWorkspaceKeepsTheMappingsItUsedLast(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		d, ada, bob := opened(t, at)
		set := func(workspace int64, header string, second int) {
			t.Helper()
			must.Do(t, d.SetImportMapping(t.Context(), workspace, header, map[string]string{"a": header}, countersign.At(time.Unix(int64(second), 0))))
		}
		set(bob, "his", 0)
		for i := range maxMappings + 20 {
			set(ada, fmt.Sprintf("header-%03d", i), i)
			set(ada, "used with each", i)
		}
		set(ada, "header-000", 0) // by a clock that was set back
		for header, there := range map[string]bool{"header-000": true, "used with each": true, "header-119": true, "header-022": true, "header-021": false, "header-001": false} {
			fields, err := d.ImportMapping(t.Context(), ada, header)
			if there && (err != nil || fields["a"] != header) || !there && !errors.Is(err, sqldb.ErrNotFound) {
				t.Errorf("%s: %v, %v", header, fields, err)
			}
		}
		n, err := sqldb.One(t.Context(), d.Queries, sqldb.Value[int64], `SELECT count(*) FROM import_mappings WHERE workspace_id = $1`, ada)
		if err != nil || n != maxMappings {
			t.Errorf("%d mappings, %v", n, err)
		}
		if _, err := d.ImportMapping(t.Context(), bob, "his"); err != nil {
			t.Errorf("of another workspace: %v", err)
		}
	})
}
