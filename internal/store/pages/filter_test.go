package pages

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestAListSaysHowFarItIsCounted(t *testing.T) {
	for n, want := range map[int64]string{0: "0 items", 1: "1 item", 9_999: "9,999 items", 10_000: "10,000 items or more"} {
		expect.Equalf(t, counted(n, "item"), want, "%d", n)
	}
}

func TestAPageOfAListKeepsTheFilterAndNothingElse(t *testing.T) {
	f := filterOf(url.Values{"state": {"refunded"}, "item": {""}, "after": {"7"}, "other": {"x"}}, "state", "item")
	if got := f.path("/w/ada/purchases", "before", "9"); got != "/w/ada/purchases?before=9&state=refunded" || !f.narrowed() {
		t.Errorf("%s, narrowed: %t", got, f.narrowed())
	}
	if filterOf(url.Values{"after": {"7"}}, "state").narrowed() {
		t.Error("a list without a filter is narrowed")
	}
}
