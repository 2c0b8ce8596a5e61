package pages

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestTheProgressOfAnImportIsSaidInWords(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		job  transfer.ImportJob
		want string
	}{
		{transfer.ImportJob{State: "queued"}, "The import waits for its turn."},
		{transfer.ImportJob{State: "running", Progress: transfer.ImportProgress{SizeBytes: 200 * mb}}, "0 rows read · 0 bytes of 200 MB · 0 rejected"},
		{transfer.ImportJob{State: "running", Progress: transfer.ImportProgress{ReadBytes: 50 * mb, SizeBytes: 200 * mb, Lines: 40_000, Bad: 7, ReadMillis: 8000}},
			"40,000 rows read · 50 MB of 200 MB · 7 rejected · 5,000 rows a second · about 24 seconds of reading left"},
		{transfer.ImportJob{State: "running", Progress: transfer.ImportProgress{ReadBytes: mb, SizeBytes: 200 * mb, Lines: 1000, ReadMillis: 1000}},
			"1,000 rows read · 1 MB of 200 MB · 0 rejected · 1,000 rows a second · about 4 minutes of reading left"},
		{transfer.ImportJob{State: "running", Progress: transfer.ImportProgress{ReadBytes: mb, SizeBytes: mb, Lines: 1000, ReadMillis: 1000}},
			"The whole file is read: 1,000 rows · 0 rejected. It is now imported."},
		{transfer.ImportJob{State: "running", DryRun: true, Progress: transfer.ImportProgress{ReadBytes: mb, SizeBytes: mb, Lines: 1, ReadMillis: 1000}},
			"The whole file is read: 1 row · 0 rejected. It is now compared with the store."},
	} {
		expect.Equalf(t, (oneImport{ImportJob: c.job}).howFar(), c.want, "%+v", c.job.Progress)
	}
}
