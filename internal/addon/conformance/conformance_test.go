package conformance

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if step, place := dbtest.ChildStep(); step != "" {
		fmt.Println("failed:", beKilled(step, place))
		os.Exit(1)
	}
	dbtest.Crowd()
	os.Exit(m.Run())
}

// conformance is a case: a rule, the section of the notes that states it, and what shows that the
// addon follows it.
type conformance struct {
	name, rule string
	run        func(s *site)
}

// The order of the columns of the table.
var (
	simulationNames = []string{"playfake", "playdoc"}
	engineNames     = []string{dbtest.SQLite, dbtest.Postgres}
)

func TestConformance(t *testing.T) {
	outcomes, pools := newOutcomes(), newPools(t)
	t.Run("cases", func(t *testing.T) {
		for _, c := range allCases() {
			for _, simulation := range simulationNames {
				for _, engine := range engineNames {
					t.Run(c.name+"/"+simulation+"/"+engine, func(t *testing.T) {
						t.Parallel()
						t.Cleanup(func() { outcomes.note(c, simulation, engine, t) })
						c.run(openSite(t, simulation, pools[simulation].database(t, simulation, engine)))
					})
				}
			}
		}
	})
	compareTable(t, outcomes)
}
