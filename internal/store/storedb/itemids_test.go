package storedb

import (
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestAHighIDUsesUpNoOthers(t *testing.T) {
	cases := []struct {
		name  string
		taken []int64
		n     int
		want  int64
	}{
		{"the first", nil, 1, 1},
		{"after the highest", []int64{2, 7}, 1, 8},
		{"the highest that people may give", []int64{7, MaxGivenID}, 1, 8},
		{"the highest of all, from before", []int64{7, 1<<63 - 1}, 3, 8},
		{"the first far one", []int64{7, farID}, 2, 8},
		{"the last that counts", []int64{farID - 1}, 1, farID},
		{"the last that counts and far ones after it", []int64{farID - 1, farID, farID + 1, farID + 3}, 1, farID + 2},
		{"no room for several", []int64{farID - 1, farID, farID + 1, farID + 3}, 2, farID + 4},
	}
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		d, ada, _ := opened(t, at)
		for _, c := range cases {
			for _, id := range c.taken {
				i := itemNumber(id)
				i.WorkspaceID = ada
				must.Do(t, d.Tx(t.Context(), func(tx *DB) error { return tx.AddItem(t.Context(), i) }))
			}
			err := d.Tx(t.Context(), func(tx *DB) error {
				got, err := tx.NextItemIDs(t.Context(), c.n)
				if err == nil && got != c.want {
					t.Errorf("%s: %d, want %d", c.name, got, c.want)
				}
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			must.Get(d.Exec(t.Context(), `DELETE FROM items`))(t)
		}
	})
}
