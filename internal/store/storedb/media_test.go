package storedb

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// A sweep and an upload of more than a day meet: one of them has the file.
func TestASweepAndAnUploadExcludeEachOther(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		d, ada, _ := opened(t, at)
		later := countersign.At(day.Add(25 * time.Hour))
		for _, name := range []string{"swept", "used"} {
			m := UploadedFile{Name: name, WorkspaceID: ada, Kind: MediaFile, CreatedAt: sqldb.Time{Time: day.Time}}
			must.Do(t, d.AddUploadedFile(t.Context(), m))
		}
		expect.NoError(t, d.UseUploadedFile(t.Context(), UploadedFile{Name: "used"}))
		for name, want := range map[string]bool{"swept": true, "used": false} {
			if swept, err := d.SetUploadedFileUnused(t.Context(), name, day, later); err != nil || swept != want {
				t.Errorf("%s: swept %t, %v", name, swept, err)
			}
		}
		if err := d.UseUploadedFile(t.Context(), UploadedFile{Name: "swept"}); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("used after it was swept: %v", err)
		}
		if swept, err := d.SetUploadedFileUnused(t.Context(), "used", countersign.Timestamp{}, later); err != nil || !swept {
			t.Errorf("not noted: %v", err)
		}
	})
}
