package store_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// BenchmarkImport imports a million purchases into an empty store, and the same
// file once more. It reports lines a second and the most memory that the process
// had in MB (Linux only).
func BenchmarkImport(b *testing.B) {
	const purchases = 1_000_000
	file := bigFile(b, purchases)
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		for _, times := range []string{"first", "again"} {
			b.Run(engine+"/"+times, func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					f := storetest.Prepared(b, dbtest.New(b, engine))
					if times == "again" {
						importBig(b, f, file)
					}
					forgetPeak()
					b.StartTimer()
					importBig(b, f, file)
				}
				b.ReportMetric(float64(b.N*purchases)/b.Elapsed().Seconds(), "purchases/s")
				b.ReportMetric(peakMB(b), "peak-MB")
			})
		}
	}
}

func importBig(b *testing.B, f *storetest.Fixture, file *os.File) {
	b.Helper()
	must.Get(file.Seek(0, io.SeekStart))(b)
	report, err := f.Transfer.Import(b.Context(), storetest.Operator, file, transfer.ImportOptions{})
	if err != nil || !report.Written {
		b.Fatal(report, err)
	}
}

// BenchmarkRekey creates a new key file of a store with a million purchases.
func BenchmarkRekey(b *testing.B) {
	const purchases = 1_000_000
	file := bigFile(b, purchases)
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			f := storetest.Prepared(b, dbtest.New(b, engine))
			importBig(b, f, file)
			forgetPeak()
			b.ResetTimer()
			for range b.N {
				must.Get(f.Rekey(b.Context(), storetest.Operator))(b)
			}
			b.ReportMetric(float64(b.N*purchases)/b.Elapsed().Seconds(), "purchases/s")
			b.ReportMetric(peakMB(b), "peak-MB")
		})
	}
}

// bigFile writes a shop for load tests to a file.
func bigFile(b *testing.B, purchases int) *os.File {
	b.Helper()
	file := must.Get(os.Create(filepath.Join(b.TempDir(), "big.jsonl")))(b)
	b.Cleanup(func() { _ = file.Close() })
	must.Get(io.Copy(file, sample.Big(1000, purchases)))(b)
	return file
}

// forgetPeak makes the kernel count the peak of memory again.
func forgetPeak() {
	runtime.GC()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func peakMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kilobytes := must.Get(strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64))(b)
			return kilobytes / 1024
		}
	}
	return 0
}
