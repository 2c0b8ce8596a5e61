package storedb

import (
	"context"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Stage holds the items, purchases and licenses of an import in temporary tables, with
// the numbers of their lines, until they are moved in one transaction. A line can have up to
// [LineParts] purchases: the column line is its number times LineParts, plus that of the part.
type Stage struct {
	items     *sqldb.Bulk
	purchases *sqldb.Bulk
	licenses  *sqldb.Bulk
	leftOut   *sqldb.Bulk
}

// LineParts is how many purchases a line can have at most.
const LineParts = 1024

// lineNumber is the number of the line in the column line of a row.
func lineNumber(row string) string { return row + ".line / " + strconv.Itoa(LineParts) }

// NewStage creates the temporary tables on the connection of a session.
func (d *DB) NewStage(ctx context.Context) (*Stage, error) {
	for _, table := range []string{
		`CREATE TEMPORARY TABLE stage_items (line bigint PRIMARY KEY, id bigint, workspace text, kind text,
			support boolean, name text, description text, category text, sub_category text, options text, version text,
			demo_link text, tags text, media text, regular bigint, extended bigint, currency text, published_at text, body text, licensing text, was text)`,
		`CREATE TEMPORARY TABLE stage_purchases (line bigint PRIMARY KEY, workspace text, code_digest bigint, code text,
			item_id bigint, license text, price bigint, currency text, supported_until text, downloaded boolean,
			sold_at text, state text, state_at text, buyer_name text, buyer_email text, refunded bigint)`,
		`CREATE TEMPORARY TABLE stage_licenses (line bigint PRIMARY KEY, id text, code_digest bigint, purchase_id bigint,
			domain text, wildcard boolean, free boolean, issued_at text, ended text, ended_at text)`,
		`CREATE TEMPORARY TABLE stage_left_out (line bigint PRIMARY KEY, code_digest bigint)`,
		`CREATE TEMPORARY TABLE stage_new_items (id bigint PRIMARY KEY)`,
		`CREATE TEMPORARY TABLE stage_new_purchases (code_digest bigint PRIMARY KEY)`,
	} {
		if err := d.Run(ctx, table); err != nil {
			return nil, err
		}
	}
	db := d.DB.DB()
	return &Stage{
		items: db.Bulk("stage_items", "line", "id", "workspace", "kind", "support", "name", "description", "category",
			"sub_category", "options", "version", "demo_link", "tags", "media", "regular", "extended", "currency", "published_at", "body", "licensing", "was"),
		purchases: db.Bulk("stage_purchases", "line", "workspace", "code_digest", "code", "item_id", "license", "price", "currency",
			"supported_until", "downloaded", "sold_at", "state", "state_at", "buyer_name", "buyer_email", "refunded"),
		leftOut:  db.Bulk("stage_left_out", "line", "code_digest"),
		licenses: db.Bulk("stage_licenses", "line", "id", "code_digest", "domain", "wildcard", "free", "issued_at", "ended", "ended_at"),
	}, nil
}

// AddItem stages the item of a line. Without licensing, what the store has of it
// stays. was is the body of the item of which the line has changed a part, empty for a new
// one, and nil for a line that has all of an item.
func (s *Stage) AddItem(ctx context.Context, line int, workspace string, i Item, licensing *Licensing, was *string) error {
	var said any
	if licensing != nil {
		said = sqldb.JSON[Licensing]{V: *licensing}
	}
	var found any
	if was != nil {
		found = *was
	}
	return s.items.Add(ctx, append([]any{int64(line) * LineParts, i.ID, workspace}, append(itemText(i), said, found)...)...)
}

// AddPurchase stages a purchase of a line; part counts those of the line from 0. refunded is what the line says
// was paid back: it is not kept, but lines of one code can differ in it.
func (s *Stage) AddPurchase(ctx context.Context, line, part int, workspace string, p Purchase, refunded countersign.Money) error {
	return s.purchases.Add(ctx, int64(line)*LineParts+int64(part), workspace, p.Digest, p.Code, p.ItemID, p.License, int64(p.Price), p.Currency,
		column(&p.SupportedUntil), p.Downloaded, column(&p.SoldAt), string(p.State), column(&p.StateAt), p.BuyerName, p.BuyerEmail, int64(refunded))
}

// AddLeftOut notes a purchase code of a line that is not imported.
func (s *Stage) AddLeftOut(ctx context.Context, line, part int, digest Digest) error {
	return s.leftOut.Add(ctx, int64(line)*LineParts+int64(part), digest)
}

// Flush ends the staging: everything added is in the tables, and indexed.
func (s *Stage) Flush(ctx context.Context, d *DB) error {
	if err := s.items.Flush(ctx); err != nil {
		return err
	}
	if err := s.purchases.Flush(ctx); err != nil {
		return err
	}
	if err := s.licenses.Flush(ctx); err != nil {
		return err
	}
	if err := s.leftOut.Flush(ctx); err != nil {
		return err
	}
	for _, index := range []string{
		`CREATE INDEX stage_items_by_id ON stage_items (id, line)`,
		`CREATE INDEX stage_purchases_by_code ON stage_purchases (code_digest, line)`,
		`CREATE INDEX stage_licenses_by_id ON stage_licenses (id, line)`,
		`CREATE INDEX stage_licenses_by_domain ON stage_licenses (code_digest, domain, line)`,
	} {
		if err := d.Run(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// Moved counts what a move did with rows of one kind.
type Moved struct {
	New     int64 `json:"new"`
	Changed int64 `json:"changed"`
	Same    int64 `json:"unchanged"`
	// Repeated are lines that say what an earlier one says.
	Repeated int64 `json:"repeated"`
}

// MoveItems writes the staged items, which must be one for each id. An id that another workspace took after the line was checked fails: its
// workspace would become NULL.
func (d *DB) MoveItems(ctx context.Context) (Moved, error) {
	if err := d.Mark(ctx, TopicItems, ""); err != nil {
		return Moved{}, err
	}
	return d.move(ctx,
		`SELECT count(*) FROM stage_items s`,
		`SELECT count(*) FROM stage_items s WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.id = s.id)`,
		`INSERT INTO items (`+itemColumns+`)
		SELECT s.id, w.id, s.kind, s.support, s.name, s.description, s.category, s.sub_category, s.options, s.version, s.demo_link,
			s.tags, s.media, s.regular, s.extended, s.currency, s.published_at, s.body,
			coalesce(s.licensing, (SELECT old.licensing FROM items old WHERE old.id = s.id), CAST($1 AS text))
		FROM stage_items s JOIN workspaces w ON w.username = s.workspace ORDER BY s.id
		ON CONFLICT (id) DO UPDATE SET
			workspace_id = CASE WHEN items.workspace_id = excluded.workspace_id THEN items.workspace_id END, kind = excluded.kind, support = excluded.support, name = excluded.name,
			description = excluded.description, category = excluded.category, sub_category = excluded.sub_category,
			options = excluded.options, version = excluded.version, demo_link = excluded.demo_link, tags = excluded.tags,
			media = excluded.media, regular = excluded.regular, extended = excluded.extended, currency = excluded.currency,
			published_at = excluded.published_at, body = excluded.body, licensing = excluded.licensing
		WHERE items.body <> excluded.body OR items.kind <> excluded.kind OR items.support <> excluded.support
			OR items.media <> excluded.media OR items.workspace_id <> excluded.workspace_id OR items.licensing <> excluded.licensing`,
		sqldb.JSON[Licensing]{V: DefaultLicensing()})
}

// purchaseUpdates are the columns of a purchase that an import may change.
var purchaseUpdates = []string{
	"code", "item_id", "license", "price", "currency", "supported_until", "downloaded", "sold_at", "state", "state_at", "buyer_name", "buyer_email",
}

// purchaseUpdate returns the assignments by which a purchase of the table row becomes the
// staged one, and the condition that one of them changes something. Columns in keep stay. now
// is the text of the argument with the time of the move.
func purchaseUpdate(row, staged, now string, keep map[string]bool, lift bool) (assign, differs string) {
	var assigns, conditions []string
	for _, column := range purchaseUpdates {
		if keep[column] && (column != "state_at" || keep["state"]) {
			continue
		}
		value := staged + "." + column
		if column == "state" && !lift {
			value = `CASE WHEN ` + staged + `.state = 'active' THEN ` + row + `.state ELSE ` + staged + `.state END`
		}
		if column == "state_at" {
			value = `CASE WHEN ` + staged + `.state_at IS NOT NULL THEN ` + staged + `.state_at
				WHEN ` + staged + `.state = ` + row + `.state THEN ` + row + `.state_at
				WHEN ` + staged + `.state = 'active' THEN ` + activeSince(row, lift) + ` ELSE CAST(` + now + ` AS text) END`
		}
		assigns = append(assigns, column+" = "+value)
		conditions = append(conditions, row+"."+column+" IS DISTINCT FROM "+value)
	}
	return strings.Join(assigns, ", "), strings.Join(conditions, " OR ")
}

// activeSince is the state_at of a row that a line says is active.
func activeSince(row string, lift bool) string {
	if lift {
		return "NULL"
	}
	return row + ".state_at"
}

// MovePurchases writes the staged purchases, which must be one for each code. Purchases that are there keep their values of the columns in keep. A state
// that changed without saying when gets the time of the move.
// A code that another workspace took meanwhile fails, as an item's id does. Purchases of
// items that their workspace no longer has must be out of the stage, see [DB.StageLostItems].
// Without lift, a code that is no longer good stays so.
func (d *DB) MovePurchases(ctx context.Context, now countersign.Timestamp, keep map[string]bool, lift bool) (Moved, error) {
	for _, topic := range []string{TopicPurchases, TopicLicenses} { // states put licenses on their list
		if err := d.Mark(ctx, topic, ""); err != nil {
			return Moved{}, err
		}
	}
	base, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], highestPurchaseID)
	if err != nil {
		return Moved{}, err
	}
	assign, differs := purchaseUpdate("purchases", "excluded", "$1", keep, lift)
	return d.move(ctx,
		`SELECT count(*) FROM stage_purchases s`,
		`SELECT count(*) FROM stage_purchases s
			WHERE NOT EXISTS (SELECT 1 FROM purchases p WHERE p.code_digest = s.code_digest)`,
		`INSERT INTO purchases (`+purchaseColumns+`)
		SELECT `+d.newPurchaseID(strconv.FormatInt(base, 10), `row_number() OVER (ORDER BY s.code_digest)`)+`, s.code_digest, s.code, i.workspace_id, s.item_id, s.license, s.price, s.currency, s.supported_until,
			s.downloaded, s.sold_at, s.state, s.state_at, s.buyer_name, s.buyer_email
		FROM stage_purchases s JOIN workspaces w ON w.username = s.workspace JOIN items i ON i.id = s.item_id AND i.workspace_id = w.id
		WHERE CAST($1 AS text) <> '' ORDER BY s.code_digest
		ON CONFLICT (code_digest) DO UPDATE SET
			workspace_id = CASE WHEN purchases.workspace_id = excluded.workspace_id AND lower(purchases.code) = lower(excluded.code)
				THEN purchases.workspace_id END, `+assign+`
		WHERE `+differs+` OR purchases.workspace_id <> excluded.workspace_id`, column(&now))
}

// move counts the staged rows and those that are new, then runs the insert.
func (d *DB) move(ctx context.Context, all, fresh, insert string, args ...any) (Moved, error) {
	staged, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], all)
	if err != nil || staged == 0 {
		return Moved{}, err
	}
	added, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], fresh)
	if err != nil {
		return Moved{}, err
	}
	written, err := d.Exec(ctx, insert, args...)
	if err != nil {
		return Moved{}, err
	}
	return Moved{New: added, Changed: written - added, Same: staged - written}, nil
}

// StagePurchaseConflicts lists the lines of staged purchases whose code the store has in another
// workspace, or whose digest it has for another code. Workspaces must have been moved.
func (d *DB) StagePurchaseConflicts(ctx context.Context) ([]int, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int], `
		SELECT `+lineNumber("s")+` FROM stage_purchases s JOIN workspaces w ON w.username = s.workspace
			JOIN purchases p ON p.code_digest = s.code_digest
			WHERE p.workspace_id <> w.id OR lower(p.code) <> lower(s.code) ORDER BY s.line`)
}

// HasStaged reports whether a purchase of a code is staged.
func (d *DB) HasStaged(ctx context.Context, digest Digest) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM stage_purchases WHERE code_digest = $1)`, digest)
}

// StageKept lists the lines of staged purchases that are good, while the store has taken their codes back.
func (d *DB) StageKept(ctx context.Context) ([]int, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int], `SELECT DISTINCT `+lineNumber("s")+` AS number FROM stage_purchases s JOIN purchases p ON p.code_digest = s.code_digest
		WHERE s.state = 'active' AND p.state <> 'active' ORDER BY number`)
}

// StageShadowed lists the staged purchases whose code a line has that was left out, with the first such line.
func (d *DB) StageShadowed(ctx context.Context) ([]Contradiction, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c Contradiction, err error) {
		err = r.Scan(&c.Line, &c.First)
		return c, err
	}, `SELECT `+lineNumber("s")+` AS number, min(`+lineNumber("o")+`) FROM stage_left_out o JOIN stage_purchases s ON s.code_digest = o.code_digest
		GROUP BY `+lineNumber("s")+` ORDER BY number`)
}

// StaleItems lists the lines of staged items that were made from another item than the store
// has now.
func (d *DB) StaleItems(ctx context.Context) ([]int, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int], `SELECT `+lineNumber("s")+` FROM stage_items s LEFT JOIN items i ON i.id = s.id
		WHERE s.was IS NOT NULL AND s.was <> coalesce(i.body, '') ORDER BY s.line`)
}

// StageLostItems lists the lines of staged purchases whose workspace no longer has their item.
// Items must have been moved.
func (d *DB) StageLostItems(ctx context.Context) ([]int, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int], `SELECT `+lineNumber("s")+` FROM stage_purchases s WHERE NOT EXISTS (
		SELECT 1 FROM items i JOIN workspaces w ON w.id = i.workspace_id WHERE i.id = s.item_id AND w.username = s.workspace) ORDER BY s.line`)
}
