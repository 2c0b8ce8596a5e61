package sample

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

func callers() []Caller {
	return []Caller{
		{Workspace: 1, Key: 2, Items: []int64{7, 8}, ADay: 60, Sold: []Sold{{ID: 1, Item: 7, Code: "a"}, {ID: 2, Item: 8, Code: "b", Reason: countersign.CodePurchaseRefunded}, {ID: 3, Item: 8, Code: "c"}}},
		{Workspace: 2, Key: 3, Items: []int64{9}, ADay: 20, Sold: []Sold{{ID: 4, Item: 9, Code: "d"}}},
	}
}

func TestCallsAreTheSameEachTimeAndEndNow(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 30, 0, 0, time.UTC)
	calls := Calls(now, callers())
	if len(calls) < 4000 || len(calls) > 9000 || !slices.Equal(calls, Calls(now, callers())) {
		t.Errorf("%d calls, or others the second time", len(calls))
	}
	if !slices.IsSortedFunc(calls, func(a, b Call) int { return a.At.Compare(b.At) }) {
		t.Error("the calls are not in the order of time")
	}
	first, last := calls[0].At, calls[len(calls)-1].At
	if last.After(now) || now.Sub(last) > 3*time.Hour || now.Sub(first) < (CallDays-2)*24*time.Hour || now.Sub(first) > CallDays*24*time.Hour {
		t.Errorf("from %s to %s", first, last)
	}
}

func TestCallsHaveARhythmAndFailForSeveralReasons(t *testing.T) {
	reasons, days, valid := map[string]int{}, map[time.Weekday]int{}, 0
	for _, c := range Calls(time.Date(2026, 11, 23, 23, 0, 0, 0, time.UTC), callers()) {
		days[c.At.Weekday()]++
		reasons[c.Reason]++
		if (c.Reason == "") != (c.Status == 200) || c.Workspace == 0 || c.Key == 0 || !c.Addr.IsValid() || c.Took <= 0 {
			t.Fatalf("%+v", c)
		}
		if c.Reason == "" {
			valid++
		}
	}
	if days[time.Sunday]*4 > days[time.Wednesday]*3 || days[time.Saturday]*4 > days[time.Wednesday]*3 {
		t.Errorf("week-ends are not quieter: %v", days)
	}
	for _, reason := range []string{countersign.CodePurchaseNotFound, countersign.CodePurchaseRefunded, countersign.CodeItemNotFound, countersign.CodeBadBody, countersign.CodeRateLimited} {
		if reasons[reason] == 0 {
			t.Errorf("no call fails with %s", reason)
		}
	}
	if valid < reasons[countersign.CodePurchaseNotFound]*5 {
		t.Errorf("too many failures: %v", reasons)
	}
}
