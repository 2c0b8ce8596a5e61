package addon

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestAnotherRankOfAPackageHasMembershipsDerivedAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		gold := iap.Package{ID: 7, Name: "Gold", Rank: 7}
		if err := f.IAP.AddPackage(t.Context(), operator, gold); err != nil {
			t.Fatal(err)
		}
		waiting := func() bool {
			_, err := jobs.Open(t.Context(), f.db.Queries, membership.KindDerive, membership.RepeatingKey)
			if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil
		}
		if waiting() {
			t.Fatal("a new package, which nobody has, changes memberships")
		}
		gold.Rank = 1
		if err := f.IAP.UpdatePackage(t.Context(), operator, gold); err != nil {
			t.Fatal(err)
		}
		if !waiting() {
			t.Error("no task derives the memberships again")
		}
	})
}
