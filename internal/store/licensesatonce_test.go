package store

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
)

// A thousand at once, each for a domain of its own: one of them gets the license. They
// have the machine to themselves, because each waits at most five seconds.
func TestOfAThousandAtOnceOneGetsTheLastDomain(t *testing.T) {
	licensedStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := prepared(t, at)
		const many = 1000
		var begin, all sync.WaitGroup
		var won, refused atomic.Int64
		begin.Add(1)
		for i := range many {
			all.Go(func() {
				begin.Wait()
				_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", fmt.Sprintf("shop%d.example", i))
				for codeOf(err) == countersign.CodeBusy { // a slow machine can't serve them all in time: come back
					_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", fmt.Sprintf("shop%d.example", i))
				}
				switch {
				case err == nil:
					won.Add(1)
				case codeOf(err) == "limit_reached":
					refused.Add(1)
				default:
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		begin.Done()
		all.Wait()
		if won.Load() != 1 || refused.Load() != many-1 || f.rows(t, "licenses") != 1 {
			t.Errorf("%d issued, %d refused, %d written", won.Load(), refused.Load(), f.rows(t, "licenses"))
		}
	})
}

func TestManyAtOnceForOneDomainGetTheSameLicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		var all sync.WaitGroup
		texts := make([]string, 50)
		for i := range texts {
			all.Go(func() {
				l, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "shop.example")
				if err != nil {
					t.Error(err)
				}
				texts[i] = l.Text
			})
		}
		all.Wait()
		slices.Sort(texts)
		if len(slices.Compact(texts)) != 1 || f.rows(t, "licenses") != 1 {
			t.Errorf("%d licenses", f.rows(t, "licenses"))
		}
	})
}
