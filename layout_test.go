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

	"github.com/countersign/countersign/internal/must"
)

const module = "github.com/countersign/countersign"

// mayImport is the plan of the packages: each package of ours, and the others
// of ours it may import. Packages not named here may not exist.
var mayImport = map[string][]string{
	"":                          {},
	"app":                       {"", "license"},
	"bench":                     {"bench/program", "internal/addon", "internal/addon/usertoken", "internal/keyfile", "internal/people", "internal/play/playfake", "internal/requestid", "internal/store", "internal/store/requests", "internal/store/sample", "internal/web"},
	"bench/chaos":               {"bench/program", "internal/store/sample"},
	"bench/program":             {},
	"bench/step":                {},
	"cmd/countersign":           {"", "app", "internal/addon", "internal/addon/access", "internal/addon/api", "internal/addon/events", "internal/addon/iap", "internal/addon/membership", "internal/addon/pages", "internal/addon/sample", "internal/addon/settings", "internal/addon/simulator", "internal/backup", "internal/blob", "internal/certificate", "internal/cli", "internal/config", "internal/dial", "internal/fault", "internal/frame", "internal/group", "internal/health", "internal/jobs", "internal/keyfile", "internal/limit", "internal/measure", "internal/people", "internal/play", "internal/requestid", "internal/sqldb", "internal/store", "internal/store/api", "internal/store/licensing", "internal/store/media", "internal/store/pages", "internal/store/requests", "internal/store/sample", "internal/store/transfer", "internal/store/validation", "internal/thirdparty", "internal/usage", "internal/web", "license"},
	"e2e":                       {},
	"internal/addon":            {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/addon/events", "internal/addon/iap", "internal/addon/input", "internal/addon/membership", "internal/addon/numbers", "internal/addon/settings", "internal/addon/simulator", "internal/addon/usertoken", "internal/backup", "internal/cached", "internal/dial", "internal/fault", "internal/group", "internal/health", "internal/hook", "internal/jobs", "internal/keyfile", "internal/people", "internal/people/peopledb", "internal/play", "internal/sqldb", "internal/token", "internal/usage", "internal/wording", "license"},
	"e2e/play":                  {"internal/play/playfake"},
	"internal/addon/access":     {"internal/addon/addondb", "internal/backup", "internal/fault", "internal/keyfile", "internal/people", "internal/sqldb"},
	"internal/addon/addondb":    {"", "internal/jobs", "internal/people/peopledb", "internal/sqldb"},
	"internal/addon/addontest":  {"", "internal/addon", "internal/addon/addondb", "internal/addon/iap", "internal/addon/settings", "internal/dbtest", "internal/must", "internal/people", "internal/sqldb"},
	"internal/addon/api":        {"", "internal/addon", "internal/addon/events", "internal/addon/membership", "internal/addon/settings", "internal/fault", "internal/limit", "internal/people", "internal/play", "internal/prepared", "internal/sqldb", "internal/web", "internal/wording"},
	"internal/addon/entitle":    {"internal/play"},
	"internal/addon/events":     {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/input", "internal/dial", "internal/fault", "internal/health", "internal/hook", "internal/jobs", "internal/keyfile", "internal/people", "internal/sqldb"},
	"internal/addon/iap":        {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/addon/input", "internal/cached", "internal/fault", "internal/health", "internal/keyfile", "internal/people", "internal/play", "internal/sqldb", "internal/wording"},
	"internal/addon/input":      {"internal/addon/secretscan", "internal/fault"},
	"internal/addon/membership": {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/addon/iap", "internal/addon/input", "internal/addon/numbers", "internal/cached", "internal/fault", "internal/group", "internal/jobs", "internal/keyfile", "internal/limit", "internal/people", "internal/play", "internal/prepared", "internal/sqldb"},
	"internal/addon/numbers":    {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/fault", "internal/people"},
	"internal/addon/pages":      {"", "internal/addon", "internal/addon/events", "internal/addon/iap", "internal/addon/membership", "internal/addon/numbers", "internal/addon/settings", "internal/addon/simulator", "internal/fault", "internal/frame", "internal/health", "internal/people", "internal/play", "internal/spreadsheet", "internal/web"},
	"internal/addon/sample":     {},
	"internal/addon/secretscan": {},
	"internal/addon/simulator":  {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/addon/events", "internal/addon/iap", "internal/addon/input", "internal/addon/membership", "internal/fault", "internal/jobs", "internal/keyfile", "internal/people", "internal/play", "internal/play/playfake", "internal/prepared", "internal/sqldb"},
	"internal/addon/settings":   {"", "internal/addon/access", "internal/addon/addondb", "internal/addon/entitle", "internal/addon/iap", "internal/addon/input", "internal/cached", "internal/fault", "internal/people", "internal/sqldb", "internal/wording"},
	"internal/addon/usertoken":  {},
	"internal/backup":           {"", "internal/blob", "internal/fault", "internal/group", "internal/jobs", "internal/keyfile", "internal/people", "internal/people/peopledb", "internal/sqldb"},
	"internal/blob":             {"internal/fault", "internal/wording"},
	"internal/certificate":      {"internal/fault", "internal/group", "internal/regular"},
	"internal/cached":           {"internal/group", "internal/sqldb"},
	"internal/cli":              {"", "internal/fault", "internal/group", "internal/regular", "internal/spreadsheet", "internal/wording"},
	"internal/config":           {"internal/cli", "internal/fault", "internal/wording"},
	"internal/dbtest":           {"", "internal/must", "internal/sqldb", "internal/store/storedb", "internal/people/peopledb"},
	"internal/dial":             {},
	"internal/expect":           {},
	"internal/fault":            {""},
	"internal/frame":            {"", "docs", "internal/fault", "internal/health", "internal/people", "internal/thirdparty", "internal/web", "internal/wording"},
	"internal/group":            {},
	"internal/health":           {"", "internal/backup", "internal/fault", "internal/jobs", "internal/keyfile", "internal/people", "internal/people/peopledb", "internal/sqldb", "internal/wording"},
	"internal/hook":             {"internal/dial"},
	"internal/jobs":             {"", "internal/fault", "internal/group", "internal/sqldb"},
	"internal/keyfile":          {"", "internal/fault", "internal/group", "internal/regular", "internal/sqldb"},
	"internal/limit":            {""},
	"internal/measure":          {"internal/group"},
	"internal/must":             {},
	"internal/people":           {"", "internal/fault", "internal/group", "internal/keyfile", "internal/limit", "internal/people/peopledb", "internal/spreadsheet", "internal/sqldb"},
	"internal/people/peopledb":  {"", "internal/sqldb"},
	"internal/play":             {"internal/play/publisher"},
	"internal/play/playdoc":     {},
	"internal/play/playfake":    {"internal/play/publisher"},
	"internal/play/publisher":   {},
	"internal/prepared":         {},
	"internal/regular":          {},
	"internal/requestid":        {},
	"internal/spreadsheet":      {},
	"internal/sqldb":            {"", "internal/fault", "internal/group"},
	"internal/store":            {"", "internal/backup", "internal/blob", "internal/fault", "internal/group", "internal/health", "internal/jobs", "internal/keyfile", "internal/limit", "internal/people", "internal/people/peopledb", "internal/sqldb", "internal/store/access", "internal/store/byitem", "internal/store/licensing", "internal/store/media", "internal/store/requests", "internal/store/rules", "internal/store/storedb", "internal/store/transfer", "internal/store/validation"},
	"internal/store/access":     {"", "internal/fault", "internal/keyfile", "internal/limit", "internal/people", "internal/sqldb", "internal/store/storedb"},
	"internal/store/api":        {"", "internal/fault", "internal/limit", "internal/people", "internal/prepared", "internal/store", "internal/store/licensing", "internal/store/media", "internal/store/requests", "internal/store/validation", "internal/web"},
	"internal/store/byitem":     {"internal/cached", "internal/store/storedb"},
	"internal/store/licensing":  {"", "internal/cached", "internal/fault", "internal/keyfile", "internal/people", "internal/prepared", "internal/sqldb", "internal/store/access", "internal/store/rules", "internal/store/storedb", "internal/store/validation", "license"},
	"internal/store/media":      {"", "internal/blob", "internal/fault", "internal/group", "internal/people", "internal/sqldb", "internal/store/access", "internal/store/rules", "internal/store/storedb", "internal/store/validation", "internal/token", "internal/wording"},
	"internal/store/pages":      {"", "internal/fault", "internal/frame", "internal/health", "internal/people", "internal/requestid", "internal/spreadsheet", "internal/store", "internal/store/licensing", "internal/store/media", "internal/store/requests", "internal/store/snippet", "internal/store/transfer", "internal/store/validation", "internal/web", "internal/wording"},
	"internal/store/requestdb":  {"internal/sqldb"},
	"internal/store/requests":   {"", "internal/fault", "internal/group", "internal/people", "internal/requestid", "internal/sqldb", "internal/store/access", "internal/store/requestdb"},
	"internal/store/rules":      {"", "internal/fault", "internal/keyfile", "internal/sqldb", "internal/store/storedb", "internal/token", "internal/wording"},
	"internal/store/sample":     {"", "internal/token"},
	"internal/store/snippet":    {},
	"internal/store/storedb":    {"", "internal/jobs", "internal/limit", "internal/people/peopledb", "internal/sqldb"},
	"internal/store/storetest":  {"", "internal/dbtest", "internal/fault", "internal/jobs", "internal/must", "internal/people", "internal/people/peopledb", "internal/prepared", "internal/sqldb", "internal/store", "internal/store/licensing", "internal/store/media", "internal/store/storedb", "internal/store/transfer", "internal/store/validation", "license"},
	"internal/store/transfer":   {"", "internal/fault", "internal/group", "internal/jobs", "internal/keyfile", "internal/people", "internal/spreadsheet", "internal/sqldb", "internal/store/access", "internal/store/licensing", "internal/store/rules", "internal/store/sample", "internal/store/storedb", "internal/token", "license"},
	"internal/store/validation": {"", "internal/cached", "internal/fault", "internal/group", "internal/people", "internal/prepared", "internal/sqldb", "internal/store/access", "internal/store/rules", "internal/store/storedb", "internal/token", "internal/usage"},
	"internal/thirdparty":       {},
	"internal/token":            {},
	"internal/usage":            {"", "internal/fault", "internal/sqldb"},
	"internal/web":              {"", "internal/fault", "internal/group", "internal/limit", "internal/prepared", "internal/requestid"},
	"internal/webtest":          {"", "internal/must"},
	"internal/wording":          {},
	"docs":                      {},
	"release":                   {},
	"license":                   {""},

	"internal/addon/conformance": {}, // tests alone
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
	{"net/http", []string{"", "app", "bench", "bench/chaos", "cmd/countersign", "e2e/play", "internal/certificate", "internal/addon/api", "internal/addon/pages", "internal/dial", "internal/frame", "internal/hook", "internal/play", "internal/play/playdoc", "internal/play/playfake", "internal/store/api", "internal/store/pages", "internal/web", "internal/webtest"}},
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

// goPackages lists the packages of the module, once for all tests.
var goPackages = sync.OnceValues(func() (all []goPackage, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
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
	return must.Get(goPackages())(t)
}

// layer returns the path of a package in the module, "" for the root.
func layer(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func TestPackagesImportOnlyWhatThePlanAllows(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		allowed, planned := mayImport[layer(p.ImportPath)]
		if !planned {
			t.Errorf("the package %q is not in the plan", layer(p.ImportPath))
		}
		for _, i := range p.Imports {
			ours := i == module || strings.HasPrefix(i, module+"/")
			if ours && !slices.Contains(allowed, layer(i)) {
				t.Errorf("%q may not import %q", layer(p.ImportPath), layer(i))
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
				if matches && !slices.Contains(limit.packages, layer(p.ImportPath)) {
					t.Errorf("%q may not import %q", layer(p.ImportPath), i)
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
