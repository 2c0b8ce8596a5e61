package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Purchase is a purchase in a store: one token. Status is ours, State the store's.
type Purchase struct {
	ID   int64
	Name string // the id that others see
	// Platform and TokenDigest are unique together.
	Platform    string
	TokenDigest []byte
	// Sealed is the tokens.
	Sealed []byte
	// LinkedDigest is of the token that this one replaces, nil for none. Retires reports
	// that it takes its place.
	LinkedDigest []byte
	Retires      bool
	// OneTime reports that it is of one-time products.
	OneTime bool
	// SupersededBy is the id of the purchase that took this one's place, 0 for none.
	SupersededBy int64
	UserID       string // "" for nobody
	// Transferred reports that the site's staff moved it to its owner.
	Transferred   bool
	TransferredAt sqldb.Time // zero: never
	Environment   string
	Application   string
	State         string
	Status        string
	StatusSince   sqldb.Time
	Access        bool
	Unverified    bool
	StartedAt     sqldb.Time
	ExpiresAt     sqldb.Time
	AutoResumeAt  sqldb.Time
	CanceledBy    string
	Region        string
	AccountID     string
	PendingOrder  string
	Acknowledged  bool
	// AcknowledgeSince is since when an acknowledgement is due, zero when none is.
	AcknowledgeSince sqldb.Time
	// Reads is how many answers of the store were written.
	Reads     int64
	ReadAt    sqldb.Time
	CreatedAt sqldb.Time
}

const (
	purchaseColumns = `name, platform, token_digest, sealed, linked_digest, retires, superseded_by, user_id, transferred, transferred_at,
		environment, application, state, status, status_since, access, unverified, started_at, expires_at, auto_resume_at, canceled_by,
		region, account_id, pending_order, acknowledged, acknowledge_since, reads, read_at, created_at, one_time`
	selectPurchases = `SELECT id, coalesce(superseded_by, 0), ` + purchaseColumns + ` FROM purchases `
)

func scanPurchase(r sqldb.Row) (p Purchase, err error) {
	var superseded any
	err = r.Scan(&p.ID, &p.SupersededBy, &p.Name, &p.Platform, &p.TokenDigest, &p.Sealed, &p.LinkedDigest, &p.Retires, &superseded, &p.UserID,
		&p.Transferred, &p.TransferredAt, &p.Environment, &p.Application, &p.State, &p.Status, &p.StatusSince, &p.Access, &p.Unverified,
		&p.StartedAt, &p.ExpiresAt, &p.AutoResumeAt, &p.CanceledBy, &p.Region, &p.AccountID, &p.PendingOrder, &p.Acknowledged,
		&p.AcknowledgeSince, &p.Reads, &p.ReadAt, &p.CreatedAt, &p.OneTime)
	return p, err
}

// values are those of purchaseColumns.
func (p Purchase) values() []any {
	sealed := append([]byte{}, p.Sealed...) // an empty value is read as nil
	return []any{
		p.Name, p.Platform, p.TokenDigest, sealed, sqldb.NullBytes(p.LinkedDigest), p.Retires, sqldb.NullID(p.SupersededBy), p.UserID,
		p.Transferred, p.TransferredAt, p.Environment, p.Application, p.State, p.Status, p.StatusSince, p.Access, p.Unverified,
		p.StartedAt, p.ExpiresAt, p.AutoResumeAt, p.CanceledBy, p.Region, p.AccountID, p.PendingOrder, p.Acknowledged,
		p.AcknowledgeSince, p.Reads, p.ReadAt, p.CreatedAt, p.OneTime,
	}
}

// AddPurchase writes a new one and returns its id. It is [sqldb.ErrNotFound] when the token
// is known.
func (d *DB) AddPurchase(ctx context.Context, p Purchase) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO purchases (`+purchaseColumns+`)
		VALUES `+sqldb.Placeholders(1, 30, 1)+` ON CONFLICT (platform, token_digest) DO NOTHING RETURNING id`, p.values()...)
}

// UpdatePurchase writes everything but the id.
func (d *DB) UpdatePurchase(ctx context.Context, p Purchase) error {
	return d.Run(ctx, `UPDATE purchases SET (`+purchaseColumns+`) = `+sqldb.Placeholders(1, 30, 1)+` WHERE id = $31`, append(p.values(), p.ID)...)
}

// Purchase reads one by its name.
func (d *DB) Purchase(ctx context.Context, name string) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE name = $1`, name)
}

// LockPurchase reads one by its name, and makes others who would change it wait until the
// transaction ends.
func (d *DB) LockPurchase(ctx context.Context, name string) (Purchase, error) {
	return sqldb.Locked(ctx, d.Queries, "purchases", "name", name, d.Purchase)
}

// PurchaseByToken reads the purchase with a digest of its token.
func (d *DB) PurchaseByToken(ctx context.Context, platform string, digest []byte) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE platform = $1 AND token_digest = $2`, platform, digest)
}

// PurchaseByID reads the one with an id.
func (d *DB) PurchaseByID(ctx context.Context, id int64) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE id = $1`, id)
}

// PurchasesOf lists a user's, newest first, before an id; 0 for from the newest on.
func (d *DB) PurchasesOf(ctx context.Context, user string, before int64, limit int) ([]Purchase, error) {
	return sqldb.List(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE user_id = $1 AND (id < $2 OR $2 = 0) ORDER BY id DESC LIMIT $3`, user, before, limit)
}

// Purchases lists all after an id, in the order of ids.
func (d *DB) Purchases(ctx context.Context, after int64, limit int) ([]Purchase, error) {
	return sqldb.List(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

// UnacknowledgedPurchases lists the names of those with an acknowledgement that is due.
func (d *DB) UnacknowledgedPurchases(ctx context.Context) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT name FROM purchases WHERE acknowledge_since IS NOT NULL ORDER BY id`)
}

// StalePurchases lists the names of those with access of which the store has not been asked since a time.
func (d *DB) StalePurchases(ctx context.Context, since sqldb.Time, limit int) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT name FROM purchases WHERE access AND read_at < $1 ORDER BY read_at, id LIMIT $2`, since, limit)
}

// HasState reports whether the store goes on with a purchase that is in a state, which is that of the store.
func (d *DB) HasState(ctx context.Context, state string) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT count(*) > 0 FROM purchases
		WHERE state = $1 AND status NOT IN ('expired', 'revoked', 'failed', 'superseded')`, state)
}

// HasAccess reports whether there is a purchase with access.
func (d *DB) HasAccess(ctx context.Context) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT count(*) > 0 FROM purchases WHERE access`)
}

// HasPurchases reports whether there is one of an environment.
func (d *DB) HasPurchases(ctx context.Context, environment string) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM purchases WHERE environment = $1)`, environment)
}

// SetPurchaseKey replaces what depends on the key file.
func (d *DB) SetPurchaseKey(ctx context.Context, id int64, digest, linked, sealed []byte) error {
	return d.Run(ctx, `UPDATE purchases SET token_digest = $1, linked_digest = $2, sealed = $3 WHERE id = $4`, digest, sqldb.NullBytes(linked), sealed, id)
}

// FindPurchases lists those of a user, with an order, with a name or with a digest of their
// token, newest first.
func (d *DB) FindPurchases(ctx context.Context, text, platform string, digest []byte, limit int) ([]Purchase, error) {
	return sqldb.List(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE user_id = $1 OR name = $1 OR platform = $3 AND token_digest = $2
		OR id IN (SELECT purchase_id FROM purchase_items WHERE order_id = $1 UNION SELECT purchase_id FROM purchase_history WHERE order_id = $1)
		ORDER BY id DESC LIMIT $4`, text, digest, platform, limit)
}

// HasApplication reports whether a purchase of the real store was made in an application.
func (d *DB) HasApplication(ctx context.Context, application string) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM purchases WHERE application = $1 AND environment <> 'simulated')`, application)
}

// Applications lists those in which purchases of the real store were made that have access, or had it after a time.
func (d *DB) Applications(ctx context.Context, since sqldb.Time) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT DISTINCT application FROM purchases
		WHERE environment <> 'simulated' AND (access OR expires_at >= $1) ORDER BY application`, since)
}

// Members counts the users who have access from purchases of a kind.
type Members struct {
	// Real is from the real store, Elsewhere from there in another application, Simulated from the simulated store.
	Real, Elsewhere, Simulated int64
}

// CountMembers counts them beside an application.
func (d *DB) CountMembers(ctx context.Context, application string) (Members, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (m Members, err error) {
		err = r.Scan(&m.Real, &m.Elsewhere, &m.Simulated)
		return m, err
	}, `SELECT count(DISTINCT CASE WHEN environment <> 'simulated' THEN user_id END),
		count(DISTINCT CASE WHEN environment <> 'simulated' AND application <> $1 THEN user_id END),
		count(DISTINCT CASE WHEN environment = 'simulated' THEN user_id END) FROM purchases WHERE access AND user_id <> ''`, application)
}
