package main

import (
	"strings"
	"testing"
)

func TestABaselineIsMeasuredInFiveCases(t *testing.T) {
	var got []string
	for _, c := range cases(settings{purchases: 1_000_000, items: 1000, baseline: "old"}) {
		got = append(got, c.name)
	}
	if want := strings.Join(baselineCases, "\n"); strings.Join(got, "\n") != want || len(got) != 5 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestLowerQuartile(t *testing.T) {
	ordered := make([]float64, 31)
	for i := range ordered {
		ordered[30-i] = float64(i + 1) // 31, 30, ... 1
	}
	for name, c := range map[string]struct {
		ratios []float64
		want   float64
	}{
		"of one it is that one":                   {[]float64{1.5}, 1.5},
		"of four the smallest":                    {[]float64{4, 2, 1, 3}, 1},
		"of five the second":                      {[]float64{5, 4, 2, 1, 3}, 2},
		"of 31 the eighth":                        {ordered, 8},
		"most pairs being slower does not hide":   {[]float64{1.1, 1.1, 1.1, 1, 1.1}, 1.1},
		"a few disturbed pairs do not make it so": {[]float64{1, 9, 1, 9, 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var all []pair
			for _, ratio := range c.ratios {
				all = append(all, pair{Ratio: ratio})
			}
			if got := lowerQuartile(all); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if all[0].Ratio != c.ratios[0] {
				t.Error("the pairs were sorted in place")
			}
		})
	}
}

func TestARunThatIsSlowerThanItsBaselineFails(t *testing.T) {
	for name, c := range map[string]struct {
		baseline      string
		flags         string
		lower, median float64
		err           string
	}{
		"at the bound":                        {baseline: "old", lower: 1.03, median: 1.2},
		"above it":                            {baseline: "old", lower: 1.031, median: 1.031, err: "bad keys: the lower quartile of the ratios is 1.031, at most 1.03"},
		"with other flags than the default":   {baseline: "old", flags: "--log json", lower: 1.1, median: 1.1, err: "1.100"},
		"faster":                              {baseline: "old", lower: 0.5, median: 0.5},
		"without a baseline a miss is marked": {lower: 9, median: 9},
	} {
		t.Run(name, func(t *testing.T) {
			r := result{Engine: "sqlite", Purchases: 1_000_000, Against: bareHandler, Baseline: c.baseline, Flags: c.flags}
			compared := comparison{Name: caseBadKeys, LowerQuartile: c.lower, Ratio: c.median, Pairs: stolen(0)}
			compared.bounded = boundedBy(r.held(compared), r.bound(caseBadKeys))
			r.Cases = []comparison{compared}
			err := r.slower()
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestTheTableAgainstABaseline(t *testing.T) {
	r := result{Engine: "sqlite", Purchases: 1_000_000, Against: "the binary /tmp/old/countersign", Baseline: "/tmp/old/countersign"}
	r.Cases = []comparison{{
		Name: caseWarm, LowerQuartile: 1.0312, Ratio: 1.2, Pairs: stolen(0.1, 0.3), LeftOut: stolen(0.9),
		Store: figures{CPU: 10_510}, Other: figures{CPU: 10_000}, bounded: boundedBy(1.0312, baselineBound),
	}}
	var table strings.Builder
	printTable(&table, r)
	for _, want := range []string{"against the binary /tmp/old/countersign", "10.51       10.00           1.031     1.03  !   1.200", "2         1        20"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in\n%s", want, table.String())
		}
	}
	if r.file() != "sqlite-1000000-baseline.json" {
		t.Errorf("its file is %s", r.file())
	}
}
