package conformance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

var update = flag.Bool("update", false, "write docs/iap-conformance.md anew")

const tableFile = "../docs/iap-conformance.md"

const tableIntroduction = `# In-app purchases: conformance

The rules of [in-app purchases](iap.md), each as a test. A test buys, pays, declines, refunds in a simulated Google Play, sends the notifications that follow, and reads over HTTP what the addon answers to the app and to the server of the site.

There are two simulations, and each test runs with both: with one on SQLite, and with the other on PostgreSQL. ` + "`playfake`" + ` was written together with the addon. ` + "`playdoc`" + ` was written independently, from Google's public documentation alone. Both can do every case.

The test run writes this page: ` + "`go test ./conformance -update`" + `. A run whose results differ from this page fails. The numbers are those of the sections of the project's notes on Google Play.

`

// outcomes are the results of a run.
type outcomes struct {
	mu   sync.Mutex
	done map[string]string
}

func newOutcomes() *outcomes { return &outcomes{done: map[string]string{}} }

func outcomeKey(c conformance, simulation string) string { return c.name + "/" + simulation }

// note notes how a test ended. A test that was skipped has no result.
func (o *outcomes) note(c conformance, simulation string, t *testing.T) {
	if t.Skipped() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[outcomeKey(c, simulation)] = map[bool]string{false: "passed", true: "failed"}[t.Failed()]
}

// compareTable compares the page with a run, or writes it. A run of some of the cases has no page.
func compareTable(t *testing.T, o *outcomes) {
	t.Helper()
	page, complete := o.page()
	if !complete {
		t.Log("not all cases were run, so the page was not compared")
		return
	}
	if *update {
		must.Do(t, os.WriteFile(tableFile, []byte(page), 0o644))
		return
	}
	committed := must.Get(os.ReadFile(tableFile))(t)
	if diff := cmp.Diff(string(committed), page); diff != "" {
		t.Errorf("run go test ./conformance -update (-page +run):\n%s", diff)
	}
}

// page writes the page, and reports whether every case was run.
func (o *outcomes) page() (text string, complete bool) {
	b := &strings.Builder{}
	b.WriteString(tableIntroduction)
	b.WriteString("| Case | Rule | playfake | playdoc |\n|---|---|---|---|\n")
	complete = true
	names := map[string]string{dbtest.SQLite: "SQLite", dbtest.Postgres: "PostgreSQL"}
	for i, c := range allCases() {
		fmt.Fprintf(b, "| %s | %s |", c.name, c.rule)
		for _, simulation := range simulationNames {
			result := o.done[outcomeKey(c, simulation)]
			complete = complete && result != ""
			fmt.Fprintf(b, " %s on %s |", result, names[engineOf(i, simulation)])
		}
		b.WriteString("\n")
	}
	return b.String(), complete
}
