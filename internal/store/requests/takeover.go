package requests

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// The log before this one had a row for each call, in tables by the day, and several tables of counts. It is converted
// beside the work of the server, the newest first. A step deletes what it has converted, so that it can end at any time.

const (
	// oldSchema is the name of the migrations of the log before.
	oldSchema = "requests"
	// stepsAtOnce is how many steps are done each second.
	stepsAtOnce = 10
)

// convert converts a part of the log before, if there is one.
func (l *Log) convert(ctx context.Context) error {
	for step := 0; step < stepsAtOnce && !l.converted; step++ {
		there, err := l.db.HasSchema(ctx, oldSchema)
		if err != nil || !there {
			l.converted = err == nil
			return err
		}
		if err := l.db.Tx(ctx, func(q sqldb.Queries) error { return convertNext(ctx, q, l.encoder) }); err != nil {
			return fmt.Errorf("requests: convert the log of an earlier version: %w", err)
		}
	}
	return nil
}

// convertNext converts the counts of a day of a workspace, else calls of a table, else drops what is left.
func convertNext(ctx context.Context, q sqldb.Queries, w *encoder) error {
	if err := lock(ctx, q); err != nil {
		return err
	}
	days, err := sqldb.List(ctx, q, func(r sqldb.Row) (of sumsOf, err error) {
		err = r.Scan(&of.workspace, &of.day)
		return of, err
	}, `SELECT workspace_id, day FROM request_days ORDER BY day DESC, workspace_id LIMIT 1`)
	if err != nil {
		return err
	}
	if len(days) > 0 {
		return convertDay(ctx, q, days[0])
	}
	parts, err := sqldb.List(ctx, q, sqldb.Value[int64], `SELECT first_id FROM request_parts ORDER BY first_id DESC LIMIT 1`)
	if err != nil {
		return err
	}
	if len(parts) > 0 {
		return convertCalls(ctx, q, w, parts[0])
	}
	return run(ctx, q, `DROP TABLE IF EXISTS requests`, `DROP TABLE IF EXISTS request_slots`, `DROP TABLE request_parts`, `DROP TABLE request_counts`,
		`DROP TABLE request_days`, `DROP TABLE request_items`, `DROP TABLE request_items_done`, `DROP TABLE requests_versions`)
}

func run(ctx context.Context, q sqldb.Queries, queries ...string) error {
	for _, query := range queries {
		if _, err := q.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// convertDay converts the counts of a day of a workspace. Its hours were kept for a month, and its items were packed when
// it was over.
func convertDay(ctx context.Context, q sqldb.Queries, of sumsOf) error {
	c, total, from, to := counts{sums: map[sumsOf]*sums{}}, map[string]int64{}, of.day*24, of.day*24+24
	in := func(result string) *sums { return c.of(sumsOf{of.workspace, of.day, result}) }
	type sum struct {
		kind, id, calls int64
		result          string
	}
	err := sqldb.Each(ctx, q, func(r sqldb.Row) (s sum, err error) {
		err = r.Scan(&s.kind, &s.id, &s.result, &s.calls)
		return s, err
	}, func(s sum) error {
		switch s.kind {
		case 0: // of an hour
			in(s.result).hours[s.id%24] = s.calls
			total[s.result] -= s.calls
		case 1: // of an item
			in(s.result).items[s.id] = s.calls
		case 2: // of the day
			total[s.result] += s.calls
		default: // of a key
			in(s.result).keys[s.id] = s.calls
		}
		return nil
	}, `SELECT 0, hour, result, CAST(sum(calls) AS bigint) FROM request_counts WHERE workspace_id = $1 AND hour >= $2 AND hour < $3 GROUP BY hour, result
		UNION ALL SELECT 1, item_id, result, CAST(sum(calls) AS bigint) FROM request_counts WHERE workspace_id = $1 AND hour >= $2 AND hour < $3 GROUP BY item_id, result
		UNION ALL SELECT 2 + subject, subject_id, result, calls FROM request_days WHERE workspace_id = $1 AND day = $4`, of.workspace, from, to, of.day)
	if err != nil {
		return err
	}
	for result, calls := range total { // of hours that were deleted
		if calls > 0 {
			in(result).hours[0] += calls
		}
	}
	if err := convertItems(ctx, q, of, c.sums); err != nil {
		return err
	}
	if err := c.write(ctx, q); err != nil {
		return err
	}
	return run(ctx, q, fmt.Sprintf(`DELETE FROM request_counts WHERE workspace_id = %d AND hour >= %d AND hour < %d`, of.workspace, from, to),
		fmt.Sprintf(`DELETE FROM request_days WHERE workspace_id = %d AND day = %d`, of.workspace, of.day))
}

// convertItems replaces the items of the hours that are left by those that were packed for the whole day.
func convertItems(ctx context.Context, q sqldb.Queries, of sumsOf, all map[sumsOf]*sums) error {
	return sqldb.Each(ctx, q, func(r sqldb.Row) (packed []any, err error) {
		var result string
		var calls []byte
		err = r.Scan(&result, &calls)
		return []any{result, calls}, err
	}, func(packed []any) error {
		of.result = packed[0].(string)
		items := map[int64]int64{}
		if s := all[of]; s != nil {
			s.items = items
		}
		return eachSum(packed[1].([]byte), func(id, calls int64) { items[id] = calls })
	}, `SELECT result, calls FROM request_items WHERE workspace_id = $1 AND span = 1 AND start = $2`, of.workspace, of.day)
}

// convertCalls converts the newest calls of a table, which is named by its first id, or drops it.
func convertCalls(ctx context.Context, q sqldb.Queries, w *encoder, first int64) error {
	at := timeOf(first)
	name := at.Format("20060102_150405") + fmt.Sprintf("%03d", at.UnixMilli()%1000)
	rows, err := sqldb.List(ctx, q, scanOldCall, `SELECT id, workspace_id, key_id, item_id, purchase_id, status, micros,
		endpoint, method, reason, address, agent, sent FROM requests_`+name+` ORDER BY id DESC LIMIT $1`, w.size)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return run(ctx, q, `DROP TABLE requests_`+name, `DROP TABLE request_slots_`+name, fmt.Sprintf(`DELETE FROM request_parts WHERE first_id = %d`, first))
	}
	slices.Reverse(rows)
	for i := range rows {
		w.add(&rows[i])
	}
	if err := addBlocks(ctx, q, w.blocks()); err != nil {
		return err
	}
	_, err = q.Exec(ctx, `DELETE FROM requests_`+name+` WHERE id >= $1 AND id <= $2`, rows[0].numbers[columnID], rows[len(rows)-1].numbers[columnID])
	return err
}

func scanOldCall(r sqldb.Row) (c row, err error) {
	var into []any
	for i := range c.numbers {
		into = append(into, &c.numbers[i])
	}
	var texts [textColumns]string
	for i := range texts {
		into = append(into, &texts[i])
	}
	err = r.Scan(into...)
	texts[columnAddress] = binaryAddress(texts[columnAddress])
	for i, text := range texts {
		c.texts[i] = []byte(text)
	}
	return c, err
}
