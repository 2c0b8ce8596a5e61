package countersign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/countersign/countersign"

// layers are the packages of the product and of its tools, those of the lowest layer first. A package imports only from
// layers below its own. Packages not named here may not exist.
var layers = [][]string{
	{"", "bench/program", "bench/step", "conformance", "conformance/playdoc", "docs", "e2e", "internal/addon/sample", "internal/addon/secretscan", "internal/addon/usertoken", "internal/dial", "internal/expect", "internal/group", "internal/limit", "internal/must", "internal/play/publisher", "internal/prepared", "internal/regular", "internal/requestid", "internal/spreadsheet", "internal/store/snippet", "internal/thirdparty", "internal/token", "internal/wording", "release"},
	{"internal/dbtest", "internal/fault", "internal/hook", "internal/measure", "internal/play", "internal/play/playfake", "internal/store/sample", "internal/webtest", "license"},
	{"app", "bench/chaos", "e2e/play", "internal/addon/input", "internal/blob", "internal/certificate", "internal/cli", "internal/sqldb", "internal/web"},
	{"internal/cached", "internal/config", "internal/jobs", "internal/keyfile", "internal/people/peopledb", "internal/usage"},
	{"internal/addon/addondb", "internal/people", "internal/store/storedb"},
	{"internal/backup", "internal/store/access", "internal/store/byitem", "internal/store/requests", "internal/store/rules"},
	{"internal/health"},
	{"internal/instance"},
	{"internal/addon/access", "internal/store/validation"},
	{"internal/addon/credential", "internal/addon/events", "internal/addon/license", "internal/frame", "internal/store/licensing", "internal/store/media"},
	{"internal/addon/entitle", "internal/store/transfer"},
	{"internal/addon/iap", "internal/addon/numbers", "internal/store"},
	{"bench", "internal/addon/membership", "internal/addon/settings", "internal/store/api", "internal/store/pages", "internal/store/storetest"},
	{"internal/addon/setup", "internal/addon/simulator"},
	{"internal/addon"},
	{"internal/addon/addontest", "internal/addon/api", "internal/addon/pages"},
	{"cmd/countersign"},
}

// mayNotImport limits imports from outside to the packages that own them.
var mayNotImport = []struct {
	path     string   // an import path, or its beginning when it ends with a slash
	packages []string // the only packages that may import it
}{
	{"database/sql", []string{"internal/sqldb", "internal/dbtest"}},
	{"database/sql/driver", []string{"internal/sqldb", "internal/dbtest"}},
	{"modernc.org/", []string{"internal/sqldb", "internal/dbtest"}},
	{"github.com/jackc/", []string{"internal/sqldb", "internal/dbtest"}},
	{"github.com/pressly/goose/", []string{"internal/sqldb"}},
	{"net/http", []string{"", "app", "bench", "bench/chaos", "cmd/countersign", "conformance/playdoc", "e2e/play", "internal/certificate", "internal/addon/addontest", "internal/addon/api", "internal/addon/pages", "internal/dial", "internal/frame", "internal/hook", "internal/play", "internal/play/playfake", "internal/store/api", "internal/store/pages", "internal/web", "internal/webtest"}},
	{"golang.org/x/crypto/acme", []string{"internal/certificate"}},
	{"golang.org/x/crypto/acme/", []string{"internal/certificate"}},
	{"filippo.io/age", []string{"internal/backup"}},
	{"github.com/minio/", []string{"internal/blob"}},
	{"github.com/pelletier/go-toml/", []string{"internal/config"}},
	{"github.com/spf13/cobra", []string{"cmd/countersign", "internal/cli"}},
	{"github.com/maypok86/otter/", []string{"internal/cached"}},
	{"github.com/prometheus/client_golang/", []string{"internal/web"}},
	{"github.com/prometheus/procfs", []string{"bench", "bench/program"}},
	{"github.com/a-h/templ", []string{"internal/addon/pages", "internal/frame", "internal/store/pages"}},
	{"github.com/alexedwards/scs/", []string{"internal/frame"}},
	{"github.com/go-jose/", []string{"internal/addon/membership", "internal/play", "internal/play/playfake", "license"}},
	{"github.com/google/go-containerregistry/", []string{"release"}},
	{"golang.org/x/crypto/x509roots/", []string{"cmd/countersign"}},
	{"google.golang.org/", nil},
	{"testing", []string{"internal/addon/addontest", "internal/dbtest", "internal/expect", "internal/must", "internal/store/storetest", "internal/webtest"}},
	{module + "/internal/web", []string{"bench", "cmd/countersign", "internal/addon/api", "internal/addon/pages", "internal/frame", "internal/store/api", "internal/store/pages"}}, // front ends
	{module + "/internal/dbtest", []string{"internal/addon/addontest", "internal/store/storetest"}},
	{module + "/internal/expect", nil},
	{module + "/internal/must", []string{"internal/addon/addontest", "internal/dbtest", "internal/store/storetest", "internal/webtest"}},
	{module + "/internal/webtest", nil},
	{module + "/internal/addon/addontest", nil},
	{module + "/internal/store/storetest", nil},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// goPackages lists the packages of the module and of its tools, once for all tests.
var goPackages = sync.OnceValues(func() (all []goPackage, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...", "./bench/...", "./conformance/...", "./e2e/...", "./release/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	all, err := goPackages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inModule returns the path of a package in the module, "" for the root.
func inModule(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func TestPackagesImportOnlyFromLayersBelow(t *testing.T) {
	t.Parallel()
	number := map[string]int{}
	for n, packages := range layers {
		for _, path := range packages {
			number[path] = n + 1
		}
	}
	for _, p := range listPackages(t) {
		own := inModule(p.ImportPath)
		if number[own] == 0 {
			t.Errorf("the package %q is in no layer", own)
		}
		for _, i := range p.Imports {
			inModuleItself := i == module || strings.HasPrefix(i, module+"/")
			if inModuleItself && number[inModule(i)] >= number[own] {
				t.Errorf("%q may not import %q, which is in no layer below", own, inModule(i))
			}
		}
	}
}

func TestStoreAndAddonDoNotImportEachOther(t *testing.T) {
	t.Parallel()
	const store, addon = module + "/internal/store", module + "/internal/addon"
	for _, p := range listPackages(t) {
		for _, i := range p.Imports {
			if strings.HasPrefix(p.ImportPath, store) && strings.HasPrefix(i, addon) || strings.HasPrefix(p.ImportPath, addon) && strings.HasPrefix(i, store) {
				t.Errorf("%q imports %q", inModule(p.ImportPath), inModule(i))
			}
		}
	}
}

func TestOutsideImportsStayInTheirPackages(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		for _, i := range p.Imports {
			for _, limit := range mayNotImport {
				matches := i == limit.path || (strings.HasSuffix(limit.path, "/") && strings.HasPrefix(i, limit.path))
				if matches && !slices.Contains(limit.packages, inModule(p.ImportPath)) {
					t.Errorf("%q may not import %q", inModule(p.ImportPath), i)
				}
			}
		}
	}
}

func TestTheContractStandsOnTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		if p.ImportPath != module {
			continue
		}
		for _, i := range p.Imports {
			if strings.Contains(strings.Split(i, "/")[0], ".") {
				t.Errorf("the root package imports %q", i)
			}
		}
	}
}
