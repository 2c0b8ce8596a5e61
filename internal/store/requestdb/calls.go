package requestdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// Call is a row of the log.
type Call struct {
	ID          int64
	WorkspaceID int64 // of the key; 0 for a call without a valid key
	KeyID       int64
	ItemID      int64
	PurchaseID  int64
	Endpoint    string
	Method      string
	Status      int64
	Reason      string // empty for a valid call
	Micros      int64
	Address     string
	Agent       string
	Sent        string
}

var callColumns = []string{
	"id", "workspace_id", "key_id", "item_id", "purchase_id", "endpoint", "method", "status", "reason", "micros", "address", "agent", "sent",
}

func scanCall(r sqldb.Row) (c Call, err error) {
	err = r.Scan(&c.ID, &c.WorkspaceID, &c.KeyID, &c.ItemID, &c.PurchaseID, &c.Endpoint, &c.Method, &c.Status, &c.Reason, &c.Micros,
		&c.Address, &c.Agent, &c.Sent)
	return c, err
}

// AddCalls appends calls to a part, inside a transaction.
func (d *DB) AddCalls(ctx context.Context, p Part, rows int, call func(i int) Call) error {
	err := d.Append(ctx, p.calls(), callColumns, rows, func(i int, v []any) {
		c := call(i)
		v[0], v[1], v[2], v[3], v[4] = c.ID, c.WorkspaceID, c.KeyID, c.ItemID, c.PurchaseID
		v[5], v[6], v[7], v[8], v[9] = c.Endpoint, c.Method, c.Status, c.Reason, c.Micros
		v[10], v[11], v[12] = c.Address, c.Agent, c.Sent
	})
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, `UPDATE request_parts SET calls = calls + $1 WHERE first_id = $2`, int64(rows), p.First)
	return err
}

// Match selects calls by their columns; zero fields match all.
type Match struct {
	WorkspaceID, KeyID, ItemID, PurchaseID int64
	Endpoint, Reason, Address              string
	// Valid and Failed select one result.
	Valid, Failed bool
}

// where returns the conditions with their arguments, which are numbered from n.
func (m Match) where(n int) (text string, args []any) {
	var conditions []string
	add := func(column string, value any) {
		args = append(args, value)
		conditions = append(conditions, fmt.Sprintf("%s = $%d", column, n+len(args)-1))
	}
	for _, c := range []struct {
		column string
		id     int64
	}{{"workspace_id", m.WorkspaceID}, {"key_id", m.KeyID}, {"item_id", m.ItemID}, {"purchase_id", m.PurchaseID}} {
		if c.id != 0 {
			add(c.column, c.id)
		}
	}
	for _, c := range []struct{ column, text string }{{"endpoint", m.Endpoint}, {"reason", m.Reason}, {"address", m.Address}} {
		if c.text != "" {
			add(c.column, c.text)
		}
	}
	if m.Valid {
		conditions = append(conditions, "reason = ''")
	}
	if m.Failed {
		conditions = append(conditions, "reason <> ''")
	}
	if conditions == nil {
		return "", nil
	}
	return " WHERE " + strings.Join(conditions, " AND "), args
}

// Range is a range of ids, and the direction in which it is read.
type Range struct {
	First, End int64 // End does not belong to it
	// Up reads the oldest first.
	Up bool
}

func (r Range) order() string {
	if r.Up {
		return "ASC"
	}
	return "DESC"
}

// Calls reads up to limit calls of a part in a range, of which it examines the first ones
// only. last is the id at which it stopped, 0 when that is the end of the range, and examined
// about how many it looked at.
func (d *DB) Calls(ctx context.Context, p Part, in Range, m Match, examine, limit int) (calls []Call, last int64, examined int, err error) {
	where, args := m.where(5)
	if where == "" {
		examine = min(examine, limit)
	}
	// The order within the subquery is the order of the result: a sort outside of it would
	// read all of its rows before the first is known.
	inside := ` FROM ` + p.calls() + ` WHERE id >= $1 AND id < $2 ORDER BY id ` + in.order() + ` LIMIT $3`
	calls, err = sqldb.List(ctx, d.Queries, scanCall,
		`SELECT `+strings.Join(callColumns, ", ")+` FROM (SELECT *`+inside+`) AS part`+where+` LIMIT $4`,
		append([]any{in.First, in.End, int64(examine), int64(limit)}, args...)...)
	if err != nil {
		return nil, 0, 0, err
	}
	if len(calls) == limit {
		return calls, calls[limit-1].ID, limit, nil
	}
	type reach struct{ rows, first, last int64 }
	r, err := sqldb.One(ctx, d.Queries, func(r sqldb.Row) (x reach, err error) {
		err = r.Scan(&x.rows, &x.first, &x.last)
		return x, err
	}, `SELECT count(*), coalesce(min(id), 0), coalesce(max(id), 0) FROM (SELECT id`+inside+`) AS part`, in.First, in.End, int64(examine))
	switch {
	case err != nil || r.rows < int64(examine):
		return calls, 0, int(r.rows), err
	case in.Up:
		return calls, r.last, examine, nil
	}
	return calls, r.first, examine, nil
}

// Call reads the call with an id. The error for an unknown one is [sqldb.ErrNotFound].
func (d *DB) Call(ctx context.Context, p Part, id int64) (Call, error) {
	return sqldb.One(ctx, d.Queries, scanCall, `SELECT `+strings.Join(callColumns, ", ")+` FROM `+p.calls()+` WHERE id = $1 LIMIT 1`, id)
}

// Newest returns the highest id of a part, 0 when it is empty.
func (d *DB) Newest(ctx context.Context, p Part) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT coalesce(max(id), 0) FROM `+p.calls())
}
