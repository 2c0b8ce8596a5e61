package requestdb

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// Part is a range of calls that lie in tables of their own, so that they can be dropped
// at once: the calls of a day, or of less where there are many.
type Part struct {
	First int64 // the smallest id that belongs to it
	End   int64 // the smallest id that does not any more
	Calls int64
	// Name is what its tables have in common.
	Name string
}

// NewPart returns a part without calls. at is the time that its first id stands for.
func NewPart(first, end int64, at time.Time) Part {
	return Part{First: first, End: end, Name: at.UTC().Format("20060102_150405") + fmt.Sprintf("%03d", at.UnixMilli()%1000)}
}

func (p Part) calls() string { return "requests_" + p.Name }
func (p Part) slots() string { return "request_slots_" + p.Name }

// Parts lists the parts, the oldest first. at returns the time that an id stands for.
func (d *DB) Parts(ctx context.Context, at func(id int64) time.Time) ([]Part, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (Part, error) {
		var first, end, calls int64
		err := r.Scan(&first, &end, &calls)
		p := NewPart(first, end, at(first))
		p.Calls = calls
		return p, err
	}, `SELECT first_id, end_id, calls FROM request_parts ORDER BY first_id`)
}

// CreatePart creates the tables of a part.
func (d *DB) CreatePart(ctx context.Context, p Part) error {
	return d.run(ctx, append([]string{
		fmt.Sprintf(`INSERT INTO request_parts (first_id, end_id, calls) VALUES (%d, %d, 0)`, p.First, p.End),
	}, d.createTables(p)...)...)
}

func (d *DB) createTables(p Part) []string {
	if d.DB().Engine() == sqldb.Postgres {
		return []string{
			fmt.Sprintf(`CREATE TABLE %s PARTITION OF requests FOR VALUES FROM (%d) TO (%d)`, p.calls(), p.First, p.End),
			fmt.Sprintf(`CREATE TABLE %s PARTITION OF request_slots FOR VALUES FROM (%d) TO (%d)`, p.slots(), p.First, p.End),
		}
	}
	return []string{
		`CREATE TABLE ` + p.calls() + ` (
			id           integer PRIMARY KEY,
			workspace_id integer NOT NULL,
			key_id       integer NOT NULL,
			item_id      integer NOT NULL,
			purchase_id  integer NOT NULL,
			endpoint     text    NOT NULL,
			method       text    NOT NULL,
			status       integer NOT NULL,
			reason       text    NOT NULL,
			micros       integer NOT NULL,
			address      text    NOT NULL,
			agent        text    NOT NULL,
			sent         text    NOT NULL
		)`,
		`CREATE TABLE ` + p.slots() + ` (
			kind  integer NOT NULL,
			value integer NOT NULL,
			slot  integer NOT NULL,
			PRIMARY KEY (kind, value, slot)
		) WITHOUT ROWID`,
	}
}

// CutPart ends a part at an id above all of its calls.
func (d *DB) CutPart(ctx context.Context, p Part, end int64) error {
	queries := []string{fmt.Sprintf(`UPDATE request_parts SET end_id = %d WHERE first_id = %d`, end, p.First)}
	if d.DB().Engine() == sqldb.Postgres {
		for parent, part := range map[string]string{"requests": p.calls(), "request_slots": p.slots()} {
			queries = append(queries,
				fmt.Sprintf(`ALTER TABLE %s DETACH PARTITION %s`, parent, part),
				fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)`, parent, part, p.First, end))
		}
	}
	return d.run(ctx, queries...)
}

// DropPart drops the tables of a part, with all that is in them.
func (d *DB) DropPart(ctx context.Context, p Part) error {
	return d.run(ctx, `DROP TABLE IF EXISTS `+p.calls(), `DROP TABLE IF EXISTS `+p.slots(),
		fmt.Sprintf(`DELETE FROM request_parts WHERE first_id = %d`, p.First))
}

func (d *DB) run(ctx context.Context, queries ...string) error {
	for _, q := range queries {
		if _, err := d.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether an id belongs to the part.
func (p Part) Has(id int64) bool { return p.First <= id && id < p.End }
