package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestBoundsNameCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cases(settings{purchases: 1_000_000, items: 1000, minute: true}) {
		names[c.name] = true
	}
	for _, b := range bounds {
		if !names[b.name] {
			t.Errorf("there is no case %q", b.name)
		}
	}
	for _, name := range []string{caseCold, caseMinute} {
		if !names[name] {
			t.Errorf("there is no case %q", name)
		}
	}
}

func TestBounds(t *testing.T) {
	const pocketbase, php = "bench/peers/pocketbase/start -lookup join", "bench/peers/php/start"
	for name, c := range map[string]struct {
		run  result
		name string
		want float64
	}{
		"warm":                                    {result{Engine: "sqlite", Purchases: 1_000_000}, caseWarm, 1.15},
		"warm on PostgreSQL":                      {result{Engine: "postgres", Purchases: 1_000_000}, caseWarm, 1.15},
		"the look-up at 1,000,000 purchases":      {result{Engine: "sqlite", Purchases: 1_000_000}, caseCold, 1.4},
		"not at another number":                   {result{Engine: "sqlite", Purchases: 10_000_000}, caseCold, 0},
		"not on PostgreSQL":                       {result{Engine: "postgres", Purchases: 1_000_000}, caseCold, 0},
		"a list per byte, at any number":          {result{Engine: "postgres", Purchases: 10_000}, "items/all, 10000 items", 2},
		"not for every case":                      {result{Engine: "sqlite", Purchases: 1_000_000}, "account/details", 0},
		"not with other flags than the default":   {result{Engine: "sqlite", Purchases: 1_000_000, Flags: "--log json"}, caseWarm, 0},
		"a peer has its own, whatever the case":   {result{Engine: "sqlite", Purchases: 1_000_000, Against: pocketbase}, "validation, uniform over all codes", 0.1},
		"the other peer":                          {result{Engine: "sqlite", Purchases: 1_000_000, Against: php}, caseWarm, 1.0 / 7},
		"nothing is promised against other peers": {result{Engine: "sqlite", Purchases: 1_000_000, Against: "peers/mine/start"}, caseWarm, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if c.run.Against == "" {
				c.run.Against = bareHandler
			}
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
	return result{Engine: "sqlite", Purchases: purchases, Flags: flags, Against: bareHandler, Start: 400 * time.Millisecond, Cases: []comparison{c}}
}

func TestFiguresOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		run  result
		want string // name parts, values and bounds
	}{
		"at 1,000,000 the memory has a bound":              {oneCase(1_000_000, "", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400; RssAnon 151 (at most 150) !"},
		"at 10,000,000 the start has one":                  {oneCase(10_000_000, "", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400 (at most 300) !; RssAnon 151"},
		"a case without the default cache counts not":      {oneCase(1_000_000, "", comparison{Name: caseCold, Store: figures{Anonymous: 151_000_000}}), "start 400"},
		"other flags have no bounds":                       {oneCase(1_000_000, "--log json", comparison{Name: caseWarm, Store: figures{Anonymous: 151_000_000}}), "start 400; RssAnon 151"},
		"the log of the minute has a bound":                {oneCase(1_000_000, "", comparison{Name: caseMinute, Log: 65_000_000, Store: figures{Anonymous: 150_000_000}}), "start 400; RssAnon 150 (at most 150); write-ahead 65 (at most 64) !"},
		"the log of other cases is in the table, not here": {oneCase(1_000_000, "", comparison{Name: caseMixed, Log: 65_000_000}), "start 400"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for i, f := range c.run.figures() {
				part := []string{"start", "RssAnon", "write-ahead"}[i]
				if !strings.Contains(f.Name, part) {
					t.Errorf("figure %d is %q", i, f.Name)
				}
				text, _ := json.Marshal(f.Value)
				got = append(got, part+" "+string(text)+f.aside())
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestTheTableAndTheJSONShowWhatMisses(t *testing.T) {
	run := oneCase(1_000_000, "", comparison{
		Name: caseWarm, Ratio: 1.2, Store: figures{Anonymous: 99_000_000}, Pairs: []pair{{Ratio: 1.2}, {Ratio: 1.3}, {Ratio: 1.1, Stolen: 0.6}}, bounded: boundedBy(1.2, 1.15),
	})
	run.Figures = run.figures()
	var table strings.Builder
	printTable(&table, run)
	for _, want := range []string{"1.20     1.15  !", "99       0        20", "RssAnon of the store: 99 MB (at most 150)"} {
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
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	sqlite, postgres := got[0], got[1]
	if r := sqlite.OverFloor.Ratio; r < 1.499 || r > 1.501 || !sqlite.OverFloor.Missed || sqlite.OverFloor.AtMost != growthBound {
		t.Errorf("SQLite over the floor: %+v", sqlite.OverFloor)
	}
	if sqlite.Plain.Ratio != 1.25 || sqlite.Plain.Missed {
		t.Errorf("SQLite plain: %+v", sqlite.Plain)
	}
	if postgres.OverFloor != (grown{Ratio: 2}) || postgres.Plain != (grown{Ratio: 3}) {
		t.Errorf("PostgreSQL, for which nothing is promised: %+v", postgres)
	}
	if left := growthOf([]result{cold("sqlite", 10_000, "", 1, 1)}); left != nil {
		t.Errorf("growth of one run: %+v", left)
	}
}
