package main

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// settings describes what to measure.
type settings struct {
	out         string
	database    string // empty for SQLite, ownPostgres, or a URL
	purchases   int
	items       int
	rounds      int
	turn        time.Duration
	connections int
	only        string
	serveFlags  string
	peer        string
	baseline    string // path of another binary of the store
	stale       bool
	timing      bool
	silent      bool
	full        bool
	// minute adds the mixed case for a minute.
	minute bool
}

// ownPostgres is the database that stands for the harness's own server.
const ownPostgres = "postgres"

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&s.out, "out", "bench/out", "folder for the binary, the data and the results")
	f.StringVar(&s.database, "db", "", "postgres for a PostgreSQL server of the harness's own, or the `URL` of a database that is empty or that an earlier run filled (default SQLite)")
	f.IntVar(&s.purchases, "purchases", 1_000_000, "purchases in the store")
	f.IntVar(&s.items, "items", 1000, "items in the store")
	f.IntVar(&s.rounds, "rounds", 5, "turns of each server that count in a case; the table shows medians")
	f.DurationVar(&s.turn, "turn", time.Second, "length of a turn")
	f.IntVar(&s.connections, "connections", 64, "keep-alive connections")
	f.StringVar(&s.only, "only", "", "run only the cases whose name contains this")
	f.StringVar(&s.serveFlags, "serve", "", "more flags for store serve, separated by spaces")
	f.StringVar(&s.peer, "peer", "", "`command` that starts a server of another make to measure against, in place of the floor")
	f.StringVar(&s.baseline, "baseline", "", "`path` of a countersign binary of another commit to measure against, in place of the floor: five cases, --rounds 31 unless it is given; fails when a lower quartile of the ratios is above 1.03")
	f.BoolVar(&s.stale, "stale", false, "count stale answers after refunds and revocations, and measure nothing else")
	f.BoolVar(&s.timing, "timing", false, "compare the times of codes that callers must not tell apart, and measure nothing else")
	f.BoolVar(&s.silent, "silent", false, "measure valid requests beside 9,900 silent and slow connections and without them, and nothing else; fails under 90 % of the rate")
	err := f.Parse(args)
	for err == nil && f.NArg() > 0 {
		if f.Arg(0) != "full" {
			return s, fmt.Errorf("unknown argument %q; there are full and flags", f.Arg(0))
		}
		s.full = true
		err = f.Parse(f.Args()[1:])
	}
	if err != nil {
		return s, err
	}
	if s.baseline != "" && !given(f, "rounds") {
		s.rounds = baselineRounds
	}
	return s, s.check()
}

// given reports whether a flag was set on the command line.
func given(f *flag.FlagSet, name string) bool {
	found := false
	f.Visit(func(one *flag.Flag) { found = found || one.Name == name })
	return found
}

// check returns an error for what can't be measured.
func (s settings) check() error {
	switch {
	case min(s.purchases, s.items, s.rounds, s.connections) < 1:
		return errors.New("--purchases, --items, --rounds and --connections begin at 1")
	case s.full && (s.peer != "" || s.database != "" || s.stale):
		return errors.New("full takes neither --peer nor --db nor --stale: it brings its databases along, and counts stale answers")
	case s.stale && s.peer != "":
		return errors.New("--stale knows no peers")
	case s.baseline != "" && (s.full || s.peer != "" || s.database != "" || s.stale):
		return errors.New("--baseline takes neither full nor --peer nor --db nor --stale: it compares two binaries on SQLite")
	case len(cases(s)) == 0:
		return fmt.Errorf("no case has a name that contains %q", s.only)
	case s.timing && (s.full || s.stale || s.peer != ""):
		return errors.New("--timing stands alone: neither full nor --stale nor --peer goes with it")
	case s.silent && (s.full || s.stale || s.peer != ""):
		return errors.New("--silent stands alone: neither full nor --stale nor --peer goes with it")
	}
	return nil
}

// runs are the runs that the settings ask for.
func (s settings) runs() []settings {
	if !s.full {
		if s.stale {
			return []settings{s.staleRun()}
		}
		if s.timing {
			s.purchases, s.items = timingStore, 10
		}
		if s.silent {
			s.purchases, s.items, s.turn = silentPurchases, 10, max(s.turn, silentTurn)
		}
		return []settings{s}
	}
	var all []settings
	for _, database := range []string{"", ownPostgres} {
		one := s
		one.database = database
		for _, one.purchases = range []int{10_000, 1_000_000, 10_000_000} {
			one.minute = database == "" && one.purchases == 1_000_000
			all = append(all, one)
			if one.purchases == 1_000_000 {
				logged := one
				logged.minute, logged.serveFlags = false, one.serveFlags+" --log json"
				all = append(all, logged)
			}
		}
		all = append(all, one.staleRun())
	}
	return all
}

// staleRun is the run that counts stale answers, on a small store of its own: it
// takes answers back, which other runs want to be good.
func (s settings) staleRun() settings {
	s.stale, s.purchases, s.items, s.minute = true, staleTries(s.engine()), 10, false
	return s
}

func (s settings) engine() string {
	if s.database != "" {
		return "postgres"
	}
	return "sqlite"
}

// databaseName names the database on the harness's own server: one for each kind
// of store.
func (s settings) databaseName() string { return fmt.Sprintf("bench_%d_%d", s.purchases, s.items) }
