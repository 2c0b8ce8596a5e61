package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want func(*settings)
		err  string
	}{
		"none is a run with default flags":            {args: nil, want: func(*settings) {}},
		"flags alone are one run":                     {args: []string{"--only", "warm", "--rounds", "3"}, want: func(s *settings) { s.only, s.rounds = "warm", 3 }},
		"full":                                        {args: []string{"full"}, want: func(s *settings) { s.mode = modeFull }},
		"full may stand before flags":                 {args: []string{"full", "--rounds", "1"}, want: func(s *settings) { s.mode, s.rounds = modeFull, 1 }},
		"full may stand behind flags":                 {args: []string{"--rounds", "1", "full"}, want: func(s *settings) { s.mode, s.rounds = modeFull, 1 }},
		"any other argument is an error":              {args: []string{"ful"}, err: `unknown argument "ful"`},
		"also behind full":                            {args: []string{"full", "--rounds", "1", "more"}, err: `unknown argument "more"`},
		"full does not measure against peers":         {args: []string{"full", "--peer", "x"}, err: "full and --peer exclude each other"},
		"full brings its databases along":             {args: []string{"full", "--db", "postgres"}, err: "full chooses its own databases"},
		"stale answers are not of peers":              {args: []string{"--stale", "--peer", "x"}, err: "--stale and --peer exclude each other"},
		"against a baseline there are 31 rounds":      {args: []string{"--baseline", "old"}, want: func(s *settings) { s.mode, s.other, s.rounds = modeBaseline, "old", 31 }},
		"unless it is said how many":                  {args: []string{"--baseline", "old", "--rounds", "5"}, want: func(s *settings) { s.mode, s.other = modeBaseline, "old" }},
		"a baseline is of SQLite":                     {args: []string{"--baseline", "old", "--db", "postgres"}, err: "--baseline chooses its own databases"},
		"a baseline is not for full":                  {args: []string{"full", "--baseline", "old"}, err: "exclude each other"},
		"a baseline excludes a peer":                  {args: []string{"--peer", "x", "--baseline", "old"}, err: "exclude each other"},
		"a baseline counts no stale answers":          {args: []string{"--stale", "--baseline", "old"}, err: "exclude each other"},
		"cases are known":                             {args: []string{"--only", "wram"}, err: `no case has a name that contains "wram"`},
		"against a baseline, those measured for both": {args: []string{"--baseline", "old", "--only", "items"}, err: `no case has a name that contains "items"`},
		"a run has a round":                           {args: []string{"--rounds", "-1"}, err: "start at 1"},
		"a store has a purchase":                      {args: []string{"--purchases", "0"}, err: "start at 1"},
		"times are compared by themselves":            {args: []string{"--timing", "--stale"}, err: "--timing and --stale exclude each other"},
		"pages have more items":                       {args: []string{"--pages", "--only", "report"}, want: func(s *settings) { s.mode, s.items, s.only = modePages, 10_000, "report" }},
		"pages are known":                             {args: []string{"--pages", "--only", "reprot"}, err: `no case has a name that contains "reprot"`},
		"verifications take six minutes":              {args: []string{"--verify"}, want: func(s *settings) { s.mode, s.turn = modeVerify, 6*time.Minute }},
		"an outage stands alone":                      {args: []string{"--outage", "--verify"}, err: "--outage and --verify exclude each other"},
		"a backup is of ten million purchases":        {args: []string{"--backup"}, want: func(s *settings) { s.mode, s.purchases, s.turn = modeBackup, 10_000_000, 30*time.Second }},
		"unless it is said of how many":               {args: []string{"--backup", "--purchases", "9"}, want: func(s *settings) { s.mode, s.purchases, s.turn = modeBackup, 9, 30*time.Second }},
		"a move has its own databases":                {args: []string{"--move", "--db", "postgres"}, err: "--move chooses its own databases"},
		"a move is of a million purchases":            {args: []string{"--move"}, want: func(s *settings) { s.mode = modeMove }},
		"silent connections stand alone":              {args: []string{"--silent", "--stale"}, err: "--silent and --stale exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.args)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			want := settings{out: "bench/out", purchases: 1_000_000, items: 1000, calls: 10_000_000, rounds: 5, turn: time.Second}
			c.want(&want)
			if err != nil || got != want {
				t.Errorf("got %+v, error %v; want %+v", got, err, want)
			}
		})
	}
}

func TestRuns(t *testing.T) {
	for name, c := range map[string]struct {
		args, want []string
	}{
		"without full there is one":        {nil, []string{"sqlite 1000000"}},
		"stale answers are counted on few": {[]string{"--stale", "--db", "postgres"}, []string{"postgres 10000 stale"}},
		"also on SQLite":                   {[]string{"--stale"}, []string{"sqlite 10000 stale"}},
		"times are compared on one store":  {[]string{"--timing"}, []string{"sqlite 100000"}},
		"full is all sizes on both engines, and the log and the minute at 1,000,000": {[]string{"full"}, []string{
			"sqlite 10000", "sqlite 1000000 minute", "sqlite 1000000 --log json", "sqlite 10000000", "sqlite 10000 stale",
			"postgres 10000", "postgres 1000000", "postgres 1000000 --log json", "postgres 10000000", "postgres 10000 stale",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse(c.args)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range s.runs() {
				text := fmt.Sprint(one.engine(), " ", one.purchases, one.serveFlags)
				if one.minute {
					text += " minute"
				}
				if one.mode == modeStale {
					text += " stale"
				}
				got = append(got, text)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

func TestEveryKindOfStoreHasADatabaseOfItsOwn(t *testing.T) {
	names := map[string]string{}
	for _, s := range (settings{mode: modeFull}).runs() {
		if s.database != ownPostgres || s.serveFlags != "" {
			continue
		}
		name := s.databaseName()
		if other, taken := names[name]; taken {
			t.Errorf("%s is that of %s, and of %d purchases %s", name, other, s.purchases, s.mode)
		}
		names[name] = fmt.Sprintf("%d purchases %s", s.purchases, s.mode)
	}
}
