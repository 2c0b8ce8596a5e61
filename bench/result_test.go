package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestBoundsNameCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cases(settings{purchases: 1_000_000, minute: true}) {
		names[c.name] = true
	}
	for _, b := range bounds {
		if !names[b.name] {
			t.Errorf("no case %q", b.name)
		}
	}
	for _, name := range []string{caseCold, caseMinute} {
		if !names[name] {
			t.Errorf("no case %q", name)
		}
	}
}

func TestBounds(t *testing.T) {
	const pocketbase, php = "bench/peers/pocketbase/start -lookup join", "bench/peers/php/start"
	for name, c := range map[string]struct {
		run  settings
		name string
		want float64
	}{
		"warm":                                    {settings{purchases: 1_000_000}, caseWarm, 1.15},
		"warm on PostgreSQL":                      {settings{database: ownPostgres, purchases: 1_000_000}, caseWarm, 1.15},
		"the look-up at 1,000,000 purchases":      {settings{purchases: 1_000_000}, caseCold, 1.4},
		"not at another number":                   {settings{purchases: 10_000_000}, caseCold, 0},
		"not on PostgreSQL":                       {settings{database: ownPostgres, purchases: 1_000_000}, caseCold, 0},
		"a list per byte, at any number":          {settings{database: ownPostgres, purchases: 10_000}, "items/all, 10000 items", 2},
		"not for every case":                      {settings{purchases: 1_000_000}, "account/details", 0},
		"not with other flags than the default":   {settings{purchases: 1_000_000, serveFlags: "--log json"}, caseWarm, 0},
		"a peer has its own, whatever the case":   {settings{purchases: 1_000_000, mode: modePeer, other: pocketbase}, "validation, uniform over all codes", 0.1},
		"the other peer":                          {settings{purchases: 1_000_000, mode: modePeer, other: php}, caseWarm, 1.0 / 7},
		"nothing is promised against other peers": {settings{purchases: 1_000_000, mode: modePeer, other: "peers/mine/start"}, caseWarm, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.run.bound(c.name); got != c.want {
				t.Errorf("at most %v, want %v", got, c.want)
			}
		})
	}
}

func TestABoundIsMissedAboveIt(t *testing.T) {
	for name, c := range map[string]struct {
		value, atMost float64
		missed        bool
	}{
		"below":       {1.1, 1.15, false},
		"at it":       {1.15, 1.15, false},
		"above":       {1.151, 1.15, true},
		"no bound":    {9, 0, false},
		"far below 1": {0.2, 0.1, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := boundedBy(c.value, c.atMost); got.Missed != c.missed {
				t.Errorf("%+v", got)
			}
		})
	}
}

// oneCase is a run with one case.
func oneCase(purchases int, flags string, c comparison) result {
	return result{Engine: "sqlite", Purchases: purchases, Flags: flags, Start: 400 * time.Millisecond, Cases: []comparison{c}}
}

func TestFiguresOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		run  result
		want string // name parts, values and bounds
	}{
		"at 1,000,000 the memory has a bound":              {oneCase(1_000_000, "", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400 ms; RssAnon 151 MB (at most 150 !)"},
		"at 10,000,000 the start has one":                  {oneCase(10_000_000, "", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400 ms (at most 300 !); RssAnon 151 MB"},
		"a case without the default cache counts not":      {oneCase(1_000_000, "", comparison{Name: caseCold, Store: figures{Anonymous: 151_000_000}}), "start 400 ms"},
		"other flags have no bounds":                       {oneCase(1_000_000, "--log json", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400 ms; RssAnon 151 MB"},
		"the log of the minute has a bound":                {oneCase(1_000_000, "", comparison{Name: caseMinute, Log: 65_000_000, Store: figures{Anonymous: 150_000_000}}), "start 400 ms; RssAnon 150 MB (at most 150); write-ahead 65 MB (at most 64 !)"},
		"the log of other cases is in the table, not here": {oneCase(1_000_000, "", comparison{Name: caseMixed, Log: 65_000_000}), "start 400 ms"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i, f := range c.run.figures() {
				part := []string{"start", "RssAnon", "write-ahead"}[i]
				if !strings.Contains(f.Name, part) {
					t.Errorf("figure %d is %q", i, f.Name)
				}
				_, value, _ := strings.Cut(f.String(), ": ")
				got = append(got, part+" "+value)
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestTheTableAndTheJSONShowWhatMisses(t *testing.T) {
	run := oneCase(1_000_000, "", comparison{
		Name: caseWarm, Ratio: 1.2, Store: figures{Anonymous: 99_000_000}, Pairs: stolen(0, 0, 0.6), bounded: boundedBy(1.2, 1.15),
	})
	run.Figures = run.figures()
	var table strings.Builder
	run.print(&table)
	for _, want := range []string{"1.200           0.000   1.15 !", "99       0      3        0        20", "RssAnon of the store: 99 MB (at most 150)"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in\n%s", want, table.String())
		}
	}
	text, err := json.Marshal(run)
	if err != nil || !strings.Contains(string(text), `"ratio":1.2,"at_most":1.15,"missed":true`) {
		t.Errorf("%s, error %v", text, err)
	}
}

func TestGrowth(t *testing.T) {
	cold := func(engine string, purchases int, flags string, ratio float64, cpu time.Duration) result {
		return result{Engine: engine, Purchases: purchases, Flags: flags, Cases: []comparison{
			{Name: caseWarm, Ratio: 9}, {Name: caseCold, Ratio: ratio, Store: figures{CPU: cpu}},
		}}
	}
	got := growthOf([]result{
		cold("sqlite", 10_000, "", 1.2, 20_000), cold("sqlite", 10_000_000, "--log json", 5, 90_000),
		cold("sqlite", 10_000_000, "", 1.8, 25_000),
		cold("postgres", 10_000, "", 2, 20_000), cold("postgres", 10_000_000, "", 4, 60_000),
	})
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	if r := got[0].Value; r < 1.499 || r > 1.501 || !got[0].Missed || got[0].AtMost != growthBound {
		t.Errorf("SQLite relative to the floor: %+v", got[0])
	}
	if got[1].Value != 1.25 || got[1].Missed {
		t.Errorf("SQLite without the floor: %+v", got[1])
	}
	if got[2].Value != 2 || got[3].Value != 3 || got[2].AtMost+got[3].AtMost != 0 {
		t.Errorf("PostgreSQL, without a bound: %+v", got[2:])
	}
	if left := growthOf([]result{cold("sqlite", 10_000, "", 1, 1)}); left != nil {
		t.Errorf("growth of one run: %+v", left)
	}
}

func TestABaselineIsMeasuredInFiveCases(t *testing.T) {
	var got []string
	for _, c := range cases(settings{purchases: 1_000_000, mode: modeBaseline}) {
		got = append(got, c.name)
	}
	if want := strings.Join(baselineCases, "\n"); strings.Join(got, "\n") != want || len(got) != 5 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestARunThatIsSlowerThanItsBaselineFails(t *testing.T) {
	for name, c := range map[string]struct {
		mode          mode
		flags         string
		lower, median float64
		err           string
	}{
		"at the bound":                        {mode: modeBaseline, lower: 1.03, median: 1.2},
		"above it":                            {mode: modeBaseline, lower: 1.031, median: 1.031, err: "bad keys: the lower quartile of the ratios is 1.031, at most 1.03"},
		"with other flags than the default":   {mode: modeBaseline, flags: "--log json", lower: 1.1, median: 1.1, err: "1.100"},
		"faster":                              {mode: modeBaseline, lower: 0.5, median: 0.5},
		"without a baseline a miss is marked": {lower: 9, median: 9},
	} {
		t.Run(name, func(t *testing.T) {
			r := result{settings: settings{purchases: 1_000_000, mode: c.mode, serveFlags: c.flags}}
			compared := comparison{Name: caseBadKeys, LowerQuartile: c.lower, Ratio: c.median}
			compared.bounded = boundedBy(r.settings.decisive(compared), r.settings.bound(caseBadKeys))
			r.Cases = []comparison{compared}
			err := r.missed()
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestTheNameOfTheJSON(t *testing.T) {
	for want, s := range map[string]settings{
		"sqlite-1000000.json":            {purchases: 1_000_000},
		"postgres-10000-log.json":        {purchases: 10_000, database: ownPostgres, serveFlags: " --log json"},
		"sqlite-1000000-baseline.json":   {purchases: 1_000_000, mode: modeBaseline, other: "/tmp/old/countersign"},
		"sqlite-1000000-pocketbase.json": {purchases: 1_000_000, mode: modePeer, other: "bench/peers/pocketbase/start -nolog"},
		"sqlite-silent.json":             {purchases: 10_000, mode: modeSilent},
	} {
		if got := s.file(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
