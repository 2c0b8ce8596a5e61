package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

// licenseTime is the time over which the licenses are spread, up to the fill: the longest one of a report.
const licenseTime = 365 * day

// fillLicenses imports a license for each of the first purchases.
func (s *shop) fillLicenses(ctx context.Context, count int, log io.Writer) error {
	fmt.Fprintf(log, "filling %d licenses\n", count)
	path := filepath.Join(s.data, "licenses.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f) // reports its first error at the end
	apart := licenseTime / time.Duration(max(1, count))
	for i, end := 0, time.Now().UTC(); i < count; i++ {
		fmt.Fprintf(out, `{"type":"license","id":"lic-%d","purchase_code":%q,"domain":"site%[1]d.example","issued_at":%[3]q}`+"\n",
			i, sample.BigCode(i), end.Add(-time.Duration(i)*apart).Format(time.RFC3339))
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	return s.command(ctx, "store", "import", "--quiet", path)
}
