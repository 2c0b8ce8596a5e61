package requestdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// Slot notes that the calls of a part from an id on, for a while, have one with a value.
// An index of every call would cost more than the calls themselves.
type Slot struct {
	Kind  int64 // of value, for example a key's id
	Value int64
	Slot  int64 // the first id
}

// AddSlots adds slots to a part. Those that are there stay.
func (d *DB) AddSlots(ctx context.Context, p Part, slots []Slot) error {
	rows := d.rowsAtOnce()
	query := fmt.Sprintf(`INSERT INTO %s (kind, value, slot) VALUES %s ON CONFLICT DO NOTHING`, p.slots(), sqldb.Placeholders(rows, 3, 1))
	args := make([]any, 0, 3*rows)
	for some := range slices.Chunk(slots, rows) {
		args = args[:0]
		for i := range rows { // the last one again and again, so that there is one text
			s := some[min(i, len(some)-1)]
			args = append(args, s.Kind, s.Value, s.Slot)
		}
		if _, err := d.Exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Slots lists in which slots of a part a value occurs, in ascending order.
func (d *DB) Slots(ctx context.Context, p Part, kind, value int64) ([]int64, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT slot FROM `+p.slots()+` WHERE kind = $1 AND value = $2 ORDER BY slot`, kind, value)
}
