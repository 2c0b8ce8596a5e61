package storedb

import (
	"context"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// Staged is a table of the stage whose rows are told apart by a column. compared are the columns
// in which rows can differ, each with the name that files have for it.
type Staged struct {
	table, by string
	compared  [][2]string
}

var (
	// StagedItems are those of [Stage.AddItem].
	StagedItems = Staged{"stage_items", "id", named("workspace kind support name description category sub_category options version demo_link tags media regular extended currency published_at licensing")}
	// StagedPurchases are those of [Stage.AddPurchase].
	StagedPurchases = Staged{"stage_purchases", "code_digest", append(named("workspace item_id price currency supported_until downloaded state state_at buyer_name buyer_email"),
		[2]string{"license", "license_type"}, [2]string{"sold_at", "date"}, [2]string{"refunded", "refunded_amount"}, [2]string{"lower(code)", "purchase_code"})}
	// StagedLicenses are those of [Stage.AddLicense].
	StagedLicenses = Staged{"stage_licenses", "id", append(named("domain wildcard free issued_at ended ended_at"), [2]string{"code_digest", "purchase_code"})}
)

func named(columns string) (all [][2]string) {
	for name := range strings.FieldsSeq(columns) {
		all = append(all, [2]string{name, name})
	}
	return all
}

// Contradiction is a staged row that differs from the first one with the same id or code.
type Contradiction struct {
	Line, First int
	// Fields are the names of what differs.
	Fields []string
}

// repeated are the later rows s of an id or code, each with the first one f.
func (t Staged) repeated() string {
	return ` FROM (SELECT ` + t.by + `, min(line) AS line FROM ` + t.table + ` GROUP BY ` + t.by + ` HAVING count(*) > 1) d
		JOIN ` + t.table + ` f ON f.line = d.line JOIN ` + t.table + ` s ON s.` + t.by + ` = d.` + t.by + ` AND s.line > d.line`
}

// StageContradictions lists the rows of a table that differ from an earlier one, by their lines.
func (d *DB) StageContradictions(ctx context.Context, t Staged) ([]Contradiction, error) {
	differs := make([]string, len(t.compared))
	for i, column := range t.compared {
		differs[i] = `CASE WHEN ` + of("s", column[0]) + ` IS DISTINCT FROM ` + of("f", column[0]) + ` THEN ' ` + column[1] + `' ELSE '' END`
	}
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c Contradiction, err error) {
		var fields string
		err = r.Scan(&c.Line, &c.First, &fields)
		c.Fields = strings.Fields(fields)
		return c, err
	}, `SELECT line, first, fields FROM (SELECT `+lineNumber("s")+` AS line, `+lineNumber("f")+` AS first, `+strings.Join(differs, " || ")+` AS fields`+t.repeated()+`) c
		WHERE fields <> '' ORDER BY line`)
}

// of is a column of a row, also within lower().
func of(row, column string) string {
	if inner, ok := strings.CutPrefix(column, "lower("); ok {
		return "lower(" + row + "." + inner
	}
	return row + "." + column
}

// StageLinesLike lists the lines of a table that have an id or code of a line, which is one of them.
func (d *DB) StageLinesLike(ctx context.Context, t Staged, line int) ([]int, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int], `SELECT DISTINCT `+lineNumber("s")+` AS line FROM `+t.table+` f JOIN `+t.table+` s ON s.`+t.by+` = f.`+t.by+`
		WHERE f.line >= $1 AND f.line < $2 ORDER BY line`, int64(line)*LineParts, int64(line+1)*LineParts)
}

// Unstage drops a line from a table, and counts its rows.
func (d *DB) Unstage(ctx context.Context, t Staged, line int) (int64, error) {
	return d.Exec(ctx, `DELETE FROM `+t.table+` WHERE line >= $1 AND line < $2`, int64(line)*LineParts, int64(line+1)*LineParts)
}

// UnstageRepeated drops all rows of a table but the first of each id or code, and counts them.
func (d *DB) UnstageRepeated(ctx context.Context, t Staged) (int64, error) {
	return d.Exec(ctx, `DELETE FROM `+t.table+` WHERE line IN (SELECT s.line`+t.repeated()+`)`)
}
