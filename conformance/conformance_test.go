package conformance

import (
	"flag"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	dbtest.Main(m, beKilled)
}

// conformance is a case: a rule, the section of the notes that states it, and what shows that the
// addon follows it.
type conformance struct {
	name, rule string
	run        func(s *site)
}

// simulationNames are the columns of the table.
var simulationNames = []string{"playfake", "playdoc"}

// engineOf returns the engine on which a case runs with a simulation. Each case runs on both engines,
// and every simulation with every engine.
func engineOf(number int, simulation string) string {
	if (number%2 == 0) == (simulation == simulationNames[0]) {
		return dbtest.SQLite
	}
	return dbtest.Postgres
}

func TestConformance(t *testing.T) {
	outcomes := newOutcomes()
	t.Run("cases", func(t *testing.T) {
		for i, c := range allCases() {
			for _, simulation := range simulationNames {
				engine := engineOf(i, simulation)
				t.Run(c.name+"/"+simulation+"/"+engine, func(t *testing.T) {
					t.Parallel()
					t.Cleanup(func() { outcomes.note(c, simulation, t) })
					c.run(openSite(t, simulation, templates[simulation].New(t, engine)))
				})
			}
		}
	})
	compareTable(t, outcomes)
}
