package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

var readOracle = sync.OnceValues(func() (*webtest.Oracle, error) {
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	return webtest.NewOracle(document)
})

func oracle(t testing.TB) *webtest.Oracle {
	t.Helper()
	return must.Get(readOracle())(t)
}

// contract runs each script of a folder against a site of its own, on both
// engines. make brings the site into the state in which the scripts find it.
func contract(t *testing.T, folder string, o api.Options, make func(t testing.TB, at dbtest.DB) *site, judge *webtest.Oracle) {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join("testdata", folder, "*.txt")))(t)
	if len(files) == 0 {
		t.Fatal("no scripts in testdata/" + folder)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
				s := make(t, at)
				webtest.Run(t, api.New(s.Addon, o), []string{beside(t, file, s.names())}, judgeOf(judge))
			})
		})
	}
}

func judgeOf(o *webtest.Oracle) func(string, string, int, http.Header, []byte) error {
	if o == nil {
		return nil
	}
	return o.Check
}

// beside copies a script into a folder where live.set holds the names.
func beside(t testing.TB, file string, names map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	var live strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&live, "set %s %s\n", name, names[name])
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "live.set"), []byte(live.String()), 0o600))
	for _, from := range []string{file, "testdata/site.set"} {
		text := must.Get(os.ReadFile(from))(t)
		must.Do(t, os.WriteFile(filepath.Join(folder, filepath.Base(from)), text, 0o600))
	}
	return filepath.Join(folder, filepath.Base(file))
}

func updated(t testing.TB, at dbtest.DB) *site { return newSite(t, at).update(t) }

func filled(t testing.TB, at dbtest.DB) *site { return updated(t, at).fill(t) }

func TestContract(t *testing.T) {
	contract(t, ".", options(), filled, oracle(t))
}

// TestContractOfAServer runs the scripts while the addon does its background work
// and holds the answers in memory.
func TestContractOfAServer(t *testing.T) {
	contract(t, ".", options(), func(t testing.TB, at dbtest.DB) *site { return filled(t, at).run(t) }, oracle(t))
}

func TestContractBeforeTheFirstUpdate(t *testing.T) {
	contract(t, "fresh", options(), newSite, oracle(t))
}

func TestContractAfterTheFirstUpdate(t *testing.T) {
	contract(t, "updated", options(), updated, oracle(t))
}

func TestContractOfTheSettingsAsJSON(t *testing.T) {
	contract(t, "admin", options(), filled, oracle(t))
}

func TestContractOfPurchases(t *testing.T) {
	contract(t, "iap", options(), selling, oracle(t))
}

func TestContractOfTestMode(t *testing.T) {
	contract(t, "testmode", options(), inTestMode, oracle(t))
}

// TestContractWithoutPurchases has a site that sells nothing.
func TestContractWithoutPurchases(t *testing.T) {
	contract(t, "noiap", options(), updated, oracle(t))
}

func TestContractOfLimits(t *testing.T) {
	o := options()
	o.FailLimit = 3
	contract(t, "limits", o, filled, oracle(t))
}

// TestContractWithPages has pages that say that they are.
func TestContractWithPages(t *testing.T) {
	edge := web.NewEdge(web.Options{})
	mux := http.NewServeMux()
	page := edge.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err := fmt.Fprintf(w, "page of %s %s", r.Method, r.URL.Path)
		return err
	})
	mux.Handle("/", page)
	mux.Handle("/admincp/", page)
	o := options()
	o.Pages = mux
	contract(t, "pages", o, filled, nil)
}
