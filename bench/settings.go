package main

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// settings say what to measure.
type settings struct {
	out      string
	database string // empty for SQLite, ownPostgres, or a URL
	// databaseProcess is that of the harness's own server, 0 without one.
	databaseProcess int
	purchases       int
	items           int // of the store without its lists
	calls           int // logged, for modePages
	rounds          int
	turn            time.Duration
	only            string
	serveFlags      string
	mode            mode
	// other is the command of a peer or the path of a baseline.
	other string
	// minute adds the mixed case for a minute.
	minute bool
}

// mode is what is measured in place of the default, one store against the floor.
type mode string

const (
	modeFull     mode = "full"
	modePeer     mode = "--peer"
	modeBaseline mode = "--baseline"
	modeStale    mode = "--stale"
	modeTiming   mode = "--timing"
	modeSilent   mode = "--silent"
	modePages    mode = "--pages"
	modeLog      mode = "--request-log"
	modeVerify   mode = "--verify"
	modeOutage   mode = "--outage"
	modeBackup   mode = "--backup"
	modeMove     mode = "--move"
)

const (
	// ownPostgres is the database that stands for the harness's own server.
	ownPostgres = "postgres"
	// items is how many items a store has, beside those of the lists, and pageItems and pageCalls how many items and
	// logged calls one has for the pages.
	items     = 1000
	pageItems = 10_000
	pageCalls = 10_000_000
	// connections is how many keep-alive connections send requests.
	connections = 64
)

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&s.out, "out", "bench/out", "folder for the binary, the data and the results")
	f.StringVar(&s.database, "db", "", "postgres for a PostgreSQL server of the harness's own, or the `URL` of a database that is empty or that an earlier run filled (default SQLite)")
	f.IntVar(&s.purchases, "purchases", 1_000_000, "purchases in the store (default with --backup 10,000,000)")
	f.IntVar(&s.items, "items", 0, "items in the store (default 1,000, with --pages 10,000)")
	f.IntVar(&s.calls, "calls", pageCalls, "with --pages, calls in the log of API requests, spread over 30 days")
	f.IntVar(&s.rounds, "rounds", 0, "turns of each server that count in a case; the table shows medians (default 5, with --baseline 31)")
	f.DurationVar(&s.turn, "turn", time.Second, "length of a turn")
	f.StringVar(&s.only, "only", "", "run only the cases whose name contains this")
	f.StringVar(&s.serveFlags, "serve", "", "more flags for store serve, separated by spaces")
	for mode, usage := range map[mode]string{
		modePeer:     "`command` that starts another server to measure against, in place of the floor",
		modeBaseline: "`path` of a countersign binary of another commit to measure against, in place of the floor: five cases; fails when a lower quartile of the ratios is above 1.03",
	} {
		f.Func(string(mode[2:]), usage, func(value string) error {
			s.other = value
			return s.choose(mode)
		})
	}
	for mode, usage := range map[mode]string{
		modeStale:  "count stale answers after refunds and revocations, and measure nothing else",
		modeTiming: "compare the times of codes that callers must not distinguish, and measure nothing else",
		modePages:  "measure the server time of every list and report page, and nothing else; fails when the 99th percentile of one is above 50 ms",
		modeLog:    "measure what the log of API requests costs a call, against the same store without it, and nothing else; fails above 3 µs",
		modeVerify: "measure 200 verifications of in-app purchases a second with a simulated Play, and nothing else; fails when one fails or the memory grows",
		modeOutage: "have 900 callers verify purchases while a simulated Play hangs, and measure nothing else; fails when a buyer is verified later than 10 s after Play's return",
		modeBackup: "measure 1,000 validations a second beside a backup and without one, and nothing else; fails above 1.1 times the processor time, when a write takes longer than a second, and when the restored copy exports other bytes",
		modeMove:   "move a store from SQLite to PostgreSQL and back, and measure nothing else; fails when a database exports other bytes, or has other users, keys or an audit log without the earlier entries",
		modeSilent: "measure valid requests beside 9,900 silent and slow connections and without them, then beside 20,000 responses that are not read, and nothing else; fails below 90 % of the rate, and above 200 MB beside the latter",
	} {
		f.BoolFunc(string(mode[2:]), usage, func(string) error { return s.choose(mode) })
	}
	err := f.Parse(args)
	for err == nil && f.NArg() > 0 {
		if f.Arg(0) != string(modeFull) {
			return s, fmt.Errorf("unknown argument %q: expected full or flags", f.Arg(0))
		}
		if err = s.choose(modeFull); err == nil {
			err = f.Parse(f.Args()[1:])
		}
	}
	if err != nil {
		return s, err
	}
	if s.mode == modeBackup && !isSet(f, "purchases") {
		s.purchases = backupPurchases
	}
	return s.complete()
}

// isSet reports whether a flag was given.
func isSet(f *flag.FlagSet, name string) (set bool) {
	f.Visit(func(one *flag.Flag) { set = set || one.Name == name })
	return set
}

// choose sets the mode.
func (s *settings) choose(m mode) error {
	if s.mode != "" {
		return fmt.Errorf("%s and %s exclude each other", s.mode, m)
	}
	s.mode = m
	return nil
}

// complete adds the defaults that depend on the mode. Its error says what can't be measured.
func (s settings) complete() (settings, error) {
	switch {
	case s.rounds == 0 && s.mode == modeBaseline:
		s.rounds = baselineRounds
	case s.rounds == 0:
		s.rounds = 5
	}
	switch {
	case s.items == 0 && s.mode == modePages:
		s.items = pageItems
	case s.items == 0:
		s.items = items
	}
	switch {
	case min(s.purchases, s.rounds, s.items, s.calls) < 1:
		return s, errors.New("--purchases, --items, --calls and --rounds start at 1")
	case s.database != "" && (s.mode == modeFull || s.mode == modeBaseline || s.mode == modeMove):
		return s, fmt.Errorf("%s chooses its own databases: omit --db", s.mode)
	case s.mode == modePages && len(s.pages(0, "")) > 0:
	case len(cases(s)) == 0:
		return s, fmt.Errorf("no case has a name that contains %q", s.only)
	}
	switch s.mode {
	case modeStale:
		s.purchases = staleTries
	case modeTiming:
		s.purchases = timingStore
	case modeLog:
		s.turn = max(s.turn, logTurn)
	case modeVerify:
		s.turn = max(s.turn, verifyTurn)
	case modeBackup:
		s.turn = max(s.turn, backupTurn)
	case modeSilent:
		s.purchases, s.turn = silentPurchases, max(s.turn, silentTurn)
	}
	return s, nil
}

// runs are the runs that the settings ask for.
func (s settings) runs() []settings {
	if s.mode != modeFull {
		return []settings{s}
	}
	s.mode = ""
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
		one.mode, one.purchases, one.minute = modeStale, staleTries, false
		all = append(all, one)
	}
	return all
}

func (s settings) engine() string {
	if s.database != "" {
		return "postgres"
	}
	return "sqlite"
}

// storeName distinguishes the stores on one engine. Stale answers have one of their own,
// because they refund purchases that other runs need.
func (s settings) storeName() string {
	switch s.mode {
	case modePages:
		return fmt.Sprintf("%d_%d_%d_%s", s.purchases, s.items, s.calls, s.mode[2:])
	case modeStale, modeTiming, modeSilent, modeMove:
		return fmt.Sprintf("%d_%s", s.purchases, s.mode[2:])
	case modeVerify, modeOutage:
		return string(s.mode[2:])
	}
	return fmt.Sprint(s.purchases)
}

// databaseName is the store's database on the harness's own server.
func (s settings) databaseName() string { return "bench_" + s.storeName() }
