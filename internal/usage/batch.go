package usage

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// batchRows is how many rows one statement changes, in a transaction of its own: other
// writers wait for no longer than it takes.
const batchRows = 512

// add adds a batch, in the order of ids, to the rows of a table.
func add(ctx context.Context, q sqldb.Queries, table string, batch []use) error {
	ids := make([]any, len(batch))
	for i, u := range batch {
		ids[i] = u.id
	}
	// In the same order by every server: two that lock the same rows in different orders
	// would wait for each other.
	if err := q.Lock(ctx, table, "id", padded(ids, 0)...); err != nil {
		return err
	}
	args := make([]any, 0, 4*len(batch))
	for _, u := range padded(batch, use{}) {
		from := ""
		if u.from.IsValid() {
			from = u.from.String()
		}
		args = append(args, u.id, u.count, sqldb.Time{Time: u.at}, from)
	}
	_, err := q.Exec(ctx, addQuery(table, len(args)/4), args...)
	return err
}

// padded appends values that change nothing (no row has the id 0) until their number is
// a power of two. The drivers keep prepared statements by their text, and there are few
// texts this way.
func padded[T any](list []T, with T) []T {
	for len(list)&(len(list)-1) != 0 {
		list = append(list, with)
	}
	return list
}

func addQuery(table string, rows int) string {
	var query strings.Builder
	query.WriteString(`WITH used (id, n, at, origin) AS (VALUES (CAST($1 AS bigint), CAST($2 AS bigint), CAST($3 AS text), CAST($4 AS text))`)
	for i := 1; i < rows; i++ {
		fmt.Fprintf(&query, ", ($%d, $%d, $%d, $%d)", 4*i+1, 4*i+2, 4*i+3, 4*i+4)
	}
	fmt.Fprintf(&query, `) UPDATE %s SET used_count = used_count + used.n, last_used_at = used.at, last_used_from = used.origin
		FROM used WHERE %[1]s.id = used.id`, table)
	return query.String()
}
