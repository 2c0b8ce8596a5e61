package main

import (
	"testing"
)

func TestValidRequestsKeepNineTenthsOfTheirRate(t *testing.T) {
	for kept, ok := range map[float64]bool{1.02: true, leastKept: true, 0.899: false, 0: false} {
		if err := (besideCrowd{Kept: kept}).missed(); (err == nil) != ok {
			t.Errorf("%.3f of the rate: %v", kept, err)
		}
	}
	if leastKept != 0.9 {
		t.Errorf("the bound is %.2f", leastKept)
	}
}
