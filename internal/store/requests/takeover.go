package requests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	var of sumsOf
	_, err := sqldb.One(ctx, q, func(r sqldb.Row) (any, error) { return nil, r.Scan(&of.workspace, &of.day) },
		`SELECT workspace_id, day FROM request_days ORDER BY day DESC, workspace_id LIMIT 1`)
	if err == nil {
		return convertDay(ctx, q, of)
	}
	first, err := sqldb.One(ctx, q, sqldb.Value[int64], `SELECT first_id FROM request_parts ORDER BY first_id DESC LIMIT 1`)
	if err == nil {
		return convertCalls(ctx, q, w, first)
	}
	if !errors.Is(err, sqldb.ErrNotFound) {
		return err
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
// it was over: those of hours that were deleted, and that are not known any more, count for the first one.
func convertDay(ctx context.Context, q sqldb.Queries, of sumsOf) error {
	c := newCounts(time.Time{})
	sum := func(text string, fn func(s *sums, id, calls int64)) error {
		return sqldb.Each(ctx, q, func(r sqldb.Row) (id int64, err error) {
			var calls int64
			err = r.Scan(&of.result, &id, &calls)
			fn(c.of(of), id, calls)
			return id, err
		}, func(int64) error { return nil }, text, of.workspace, of.day)
	}
	const ofHours = `CAST(sum(calls) AS bigint) FROM request_counts WHERE workspace_id = $1 AND hour >= $2 * 24 AND hour < $2 * 24 + 24 GROUP BY `
	err := errors.Join(
		sum(`SELECT result, subject_id, calls FROM request_days WHERE workspace_id = $1 AND day = $2 AND subject = 2`, func(s *sums, key, calls int64) { s[sumKeys][key] = calls }),
		sum(`SELECT result, subject_id, calls FROM request_days WHERE workspace_id = $1 AND day = $2 AND subject = 0`, func(s *sums, _, calls int64) { s[sumHours][0] += calls }),
		sum(`SELECT result, hour, `+ofHours+`result, hour`, func(s *sums, hour, calls int64) { s[sumHours][hour%24] += calls; s[sumHours][0] -= calls }),
		sum(`SELECT result, item_id, `+ofHours+`result, item_id`, func(s *sums, item, calls int64) { s[sumItems][item] = calls }),
		sqldb.Each(ctx, q, func(r sqldb.Row) (packed []byte, err error) {
			err = r.Scan(&of.result, &packed)
			return packed, err
		}, func(packed []byte) error {
			items := map[int64]int64{}
			c.of(of)[sumItems] = items
			return eachSum(packed, func(id, calls int64) { items[id] = calls })
		}, `SELECT result, calls FROM request_items WHERE workspace_id = $1 AND start = $2 AND span = 1`, of.workspace, of.day))
	if err != nil {
		return err
	}
	if err := c.write(ctx, q); err != nil {
		return err
	}
	done := []string{fmt.Sprintf(`DELETE FROM request_days WHERE workspace_id = %d AND day = %d`, of.workspace, of.day)}
	for hour := range int64(24) { // one by one: a day may have more rows than a statement has time for
		done = append(done, fmt.Sprintf(`DELETE FROM request_counts WHERE workspace_id = %d AND hour = %d`, of.workspace, of.day*24+hour))
	}
	return run(ctx, q, done...)
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
	_, err = q.Exec(ctx, `DELETE FROM requests_`+name+` WHERE id >= $1 AND id <= $2`, rows[0].id(), rows[len(rows)-1].id())
	return err
}

func scanOldCall(r sqldb.Row) (c row, err error) {
	var texts [textColumns]string
	var into []any
	for i := range c.numbers {
		into = append(into, &c.numbers[i])
	}
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
