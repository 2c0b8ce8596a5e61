package thirdparty_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/thirdparty"
)

// That every module is covered is checked where the file is generated anew and compared.
func TestLicensesCoverModulesAndThePartsOfPages(t *testing.T) {
	text := thirdparty.Licenses()
	for _, name := range []string{"Go, its standard library", "modernc.org/sqlite v", "github.com/jackc/pgx/v5 v", "Inter", "Lucide", "daisyUI", "Tailwind CSS"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("%s is not covered", name)
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n===============================================================================\n") {
		if names, license, ok := strings.Cut(strings.TrimSpace(part), "\n\n"); (!ok || len(license) < 200) && !strings.HasPrefix(names, "Countersign is licensed") {
			t.Errorf("%s: no license", names)
		}
	}
}
