package pages

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store/requests"
)

func TestRunsOfValidationsAreOneLineEach(t *testing.T) {
	noon := time.Date(2026, 11, 9, 12, 0, 0, 0, time.UTC)
	call := func(days int, reason string) requests.Call {
		return requests.Call{ID: requestid.Number(noon.AddDate(0, 0, days).UnixMilli()) << 21, Address: "192.0.2.1", Reason: reason}
	}
	page := requests.Page{Calls: []requests.Call{call(0, ""), call(-1, "purchase_refunded"), call(-2, "purchase_refunded"), call(-4, ""), call(-5, ""), call(-6, ""), call(-8, ""), call(-9, "")}}
	all := append(callsOf(page), event{at: noon.AddDate(0, 0, -7), text: "Sold"})
	slices.SortStableFunc(all, func(a, b event) int { return b.at.Compare(a.at) })
	var got []string
	for _, e := range collapsed(all) {
		got = append(got, fmt.Sprintf("%s (%s)", e.text, e.detail))
	}
	want := []string{"Validation from 192.0.2.1 ()", "2 failed validations ()", "3 validations ()", "Sold ()", "Validation from 192.0.2.1 ()", "First logged validation from 192.0.2.1 ()"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	page.Next = 1
	if last := callsOf(page)[7]; last.text != "Validation from 192.0.2.1" {
		t.Errorf("the oldest of some is %q", last.text)
	}
}
