package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

var kills = flag.Int("kills", 2, "how often the processes under load are killed, on each engine")

const (
	// storiesAtOnce are those of a process, and linesToKill how many lines it prints at most before it is killed.
	storiesAtOnce, linesToKill = 12, 1500
	// betweenKills is longer than what a task waits for in an outage.
	betweenKills = 11 * time.Minute
)

// load is the site under load, and what is to be done there.
type load struct {
	*site
	random *rand.Rand
	open   []story // some of their steps are done
	told   []story
}

// Each process verifies, merges and erases, while the store fails now and then, and is killed anywhere. The next one goes on.
func TestProcessesKilledUnderLoadLoseNothingThatIsPaid(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			l := &load{site: openSite(t, "playfake", templates["playfake"].New(t, engine)), random: rand.New(rand.NewPCG(seed, 0))}
			l.bought("7", purchase{product: gold}) // by now the simulation knows the addon
			killed := 0
			for range *kills {
				for len(l.open) < storiesAtOnce {
					l.open = append(l.open, l.tell(len(l.told), l.random))
					l.told = append(l.told, l.open[len(l.open)-1])
				}
				if !l.process(1 + l.random.IntN(linesToKill)) {
					killed++
				}
			}
			if !l.process(-1) {
				t.Fatalf("the stories never end: %+v", l.open)
			}
			l.front.heal()
			l.pass(betweenKills)
			l.pass(betweenKills)
			t.Logf("%d of %d processes were killed before they were done; %d subscriptions", killed, *kills, len(l.told))
			for _, told := range l.told {
				l.wantTold(told)
			}
			l.wantNothingQueued()
			l.wantNothingOfTheErased()
		})
	}
}

// process goes on with the open stories in a process of its own, which is killed after some lines, or when all is done. It reports
// whether that was so.
func (l *load) process(lines int) (done bool) {
	l.t.Helper()
	l.now = l.now.Add(betweenKills)
	l.play.move(l.now)
	l.clock.Move(betweenKills)
	text, err := json.Marshal(l.open)
	l.check(err)
	file := filepath.Join(l.t.TempDir(), "stories.json")
	l.check(os.WriteFile(file, text, 0o600))
	child := dbtest.StartChild(l.t, l.at, stepLoad, envPlay+"="+l.google, envStories+"="+file, envClock+"="+l.clock.Now().Format(time.RFC3339))
	for n := 0; n != lines && !done && child.Lines.Scan(); n++ {
		done = l.hear(child.Lines.Text())
		l.disturb()
	}
	child.Kill()
	for child.Lines.Scan() { // what was on its way
		done = l.hear(child.Lines.Text()) || done
	}
	child.Wait()
	l.open = slices.DeleteFunc(l.open, func(one story) bool { return len(one.Steps) == 0 })
	return done
}

// hear notes a line of a process, and reports whether all is done.
func (l *load) hear(line string) (done bool) {
	var number int
	if n, _ := fmt.Sscanf(line, "story %d", &number); n == 1 {
		i := slices.IndexFunc(l.open, func(one story) bool { return one.Number == number })
		l.open[i].Steps = l.open[i].Steps[1:]
		return false
	}
	if line != lineTime && line != lineDone {
		l.t.Errorf("the process said %q", line)
	}
	return line == lineDone
}

// disturb has the store fail now and then.
func (l *load) disturb() {
	if l.random.IntN(15) == 0 {
		of := []string{ofReads, ofReads, ofAcks}[l.random.IntN(3)]
		l.front.fail(1, fault{of: of, status: 503, reason: "backendError", after: "1"})
	}
}

func (l *load) wantNothingQueued() {
	l.t.Helper()
	db := addontest.Database(l.t, l.at)
	if n, err := sqldb.One(l.t.Context(), db.Queries, sqldb.Value[int64], `SELECT count(*) FROM queued_verifications`); err != nil || n > 0 {
		l.t.Errorf("%d verifications are queued, %v", n, err)
	}
}

// wantNothingOfTheErased looks for users who were erased in all texts of the database but those of the audit log, and of the
// changes that other processes read, which are deleted soon.
func (l *load) wantNothingOfTheErased() {
	l.t.Helper()
	db := addontest.Database(l.t, l.at)
	query := `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND lower(c.type) = 'text'`
	if l.at.Engine == dbtest.Postgres {
		query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() AND data_type = 'text'`
	}
	columns, err := sqldb.List(l.t.Context(), db.Queries, func(r sqldb.Row) (c [2]string, err error) { return c, r.Scan(&c[0], &c[1]) }, query)
	if err != nil || len(columns) < 40 {
		l.t.Fatalf("%d columns, %v", len(columns), err)
	}
	for _, c := range columns {
		if c[0] == "audit" || c[0] == "changes" {
			continue
		}
		query := fmt.Sprintf(`SELECT %s FROM %s WHERE %[1]s LIKE '%%%s%%'`, c[1], c[0], prefixGone)
		if found, err := sqldb.List(l.t.Context(), db.Queries, sqldb.Value[string], query); err != nil || len(found) > 0 {
			l.t.Errorf("%s.%s has %q, %v", c[0], c[1], found, err)
		}
	}
}
