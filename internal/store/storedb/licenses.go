package storedb

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Ending describes how a license ended.
type Ending string

// The endings. A license that has none is good for as long as its purchase is.
const (
	// EndingMoved: its buyer moved it to another domain.
	EndingMoved Ending = "moved"
	// EndingGivenUp: its buyer revoked it, and took no other one for it.
	EndingGivenUp Ending = "given_up"
	// EndingReplaced: the operator moved it, or issued another one after it was
	// revoked.
	EndingReplaced Ending = "replaced"
	// EndingRevoked: the operator revoked it.
	EndingRevoked Ending = "revoked"
)

// License binds a purchase to a domain.
type License struct {
	ID         string
	PurchaseID int64
	Domain     string
	// Wildcard reports that hosts one level below the domain are licensed, too.
	Wildcard bool
	// Free reports that the domain is one for tests, which does not count.
	Free     bool
	IssuedAt countersign.Timestamp
	Ended    Ending
	EndedAt  countersign.Timestamp
	// Claim is what the license's file says of the purchase: "" for the name that the
	// key file makes of its code.
	Claim string
}

// Licensed is a license with the purchase and the item that it is for.
type Licensed struct {
	License
	PurchaseItem
}

// PurchaseItem is a purchase and what its item says about licenses.
type PurchaseItem struct {
	Purchase
	Workspace string // the workspace's username
	ItemName  string
	Support   bool
	Licensing Licensing
}

const (
	licenseColumns = `l.id, l.purchase_id, l.domain, l.wildcard, l.free, l.issued_at, l.ended, l.ended_at, coalesce(l.claim, '')`
	// licenseColumnsOrNone are those of a purchase that may have no license.
	licenseColumnsOrNone = `coalesce(l.id, ''), p.id, coalesce(l.domain, ''), coalesce(l.wildcard, false), coalesce(l.free, false),
		l.issued_at, coalesce(l.ended, ''), l.ended_at, coalesce(l.claim, '')`
	purchaseItemColumns = `p.id, p.code_digest, p.code, p.workspace_id, p.item_id, p.license, p.supported_until, p.sold_at, p.state, p.state_at,
		w.username, i.name, i.support, i.licensing`
	// joinItem leaves purchases out whose item another workspace has.
	joinItem           = ` JOIN items i ON i.id = p.item_id AND i.workspace_id = p.workspace_id JOIN workspaces w ON w.id = p.workspace_id`
	purchaseItemTables = `purchases p` + joinItem
	licensedTables     = `licenses l JOIN purchases p ON p.id = l.purchase_id` + joinItem
)

func scanLicensed(r sqldb.Row) (one Licensed, err error) {
	l, p := &one.License, &one.Purchase
	err = r.Scan(&l.ID, &l.PurchaseID, &l.Domain, &l.Wildcard, &l.Free, column(&l.IssuedAt), &l.Ended, column(&l.EndedAt), &l.Claim,
		&p.ID, &p.Digest, &p.Code, &p.WorkspaceID, &p.ItemID, &p.License, column(&p.SupportedUntil), column(&p.SoldAt), &p.State, column(&p.StateAt),
		&one.Workspace, &one.ItemName, &one.Support, sqldb.JSONInto(&one.Licensing))
	return one, err
}

// PurchaseLicenses is a licensee with all of its licenses in the order of their issue, those
// that have ended too.
type PurchaseLicenses struct {
	PurchaseItem
	Licenses []License
}

// PurchaseLicenses finds a purchase of any workspace by the digest of its code.
func (d *DB) PurchaseLicenses(ctx context.Context, digest Digest) (PurchaseLicenses, error) {
	return d.onePurchaseLicenses(ctx, selectPurchaseLicenses+purchaseItemTables+joinLicenses+` WHERE p.code_digest = $1`, digest)
}

// PurchaseLicensesByID finds a purchase of any workspace by its id.
func (d *DB) PurchaseLicensesByID(ctx context.Context, purchase int64) (PurchaseLicenses, error) {
	return d.onePurchaseLicenses(ctx, selectPurchaseLicenses+purchaseItemTables+joinLicenses+` WHERE p.id = $1`, purchase)
}

// ActivePurchaseLicenses is PurchaseLicenses for those who may not learn what became of a purchase: one
// that is not active is not found, and that takes as long as for a code that nobody has.
func (d *DB) ActivePurchaseLicenses(ctx context.Context, digest Digest) (PurchaseLicenses, error) {
	return d.WorkspacePurchaseLicenses(ctx, digest, 0)
}

// WorkspacePurchaseLicenses is ActivePurchaseLicenses, but also finds the purchases of one workspace that are
// not active.
func (d *DB) WorkspacePurchaseLicenses(ctx context.Context, digest Digest, workspace int64) (PurchaseLicenses, error) {
	// The purchase at the digest or, where none is, the next one: a row is read in any
	// case, and only then it is decided whether it is the right one.
	return d.onePurchaseLicenses(ctx, selectPurchaseLicenses+`(SELECT * FROM purchases WHERE code_digest >= $1 ORDER BY code_digest LIMIT 1) p`+joinItem+joinLicenses+`
		WHERE p.code_digest = $1 AND (p.state = 'active' OR p.workspace_id = $2)`, digest, workspace)
}

const (
	selectPurchaseLicenses = `SELECT ` + licenseColumnsOrNone + `, ` + purchaseItemColumns + ` FROM `
	joinLicenses           = ` LEFT JOIN licenses l ON l.purchase_id = p.id`
)

func (d *DB) onePurchaseLicenses(ctx context.Context, query string, args ...any) (PurchaseLicenses, error) {
	rows, err := sqldb.List(ctx, d.Queries, scanLicensed, query, args...)
	if err == nil && len(rows) == 0 {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return PurchaseLicenses{}, err
	}
	h := PurchaseLicenses{PurchaseItem: rows[0].PurchaseItem}
	for _, row := range rows {
		if row.License.ID != "" {
			h.Licenses = append(h.Licenses, row.License)
		}
	}
	slices.SortFunc(h.Licenses, func(a, b License) int {
		return cmp.Or(a.IssuedAt.Compare(b.IssuedAt.Time), strings.Compare(a.ID, b.ID))
	})
	return h, nil
}

// LockPurchaseLicenses is PurchaseLicensesByID, and makes others who would change the purchase or its
// licenses wait until the transaction ends.
func (d *DB) LockPurchaseLicenses(ctx context.Context, purchase int64) (PurchaseLicenses, error) {
	return sqldb.Locked(ctx, d.Queries, "purchases", "id", purchase, d.PurchaseLicensesByID)
}

// License reads one by its id.
func (d *DB) License(ctx context.Context, id string) (Licensed, error) {
	return sqldb.One(ctx, d.Queries, scanLicensed, `SELECT `+licenseColumns+`, `+purchaseItemColumns+`
		FROM `+licensedTables+` WHERE l.id = $1`, id)
}

// LicenseFilter narrows a list of licenses; zero values narrow nothing.
type LicenseFilter struct {
	Workspace string
	Item      int64
	// Purchase is a purchase's id.
	Purchase int64
	Limit    int
}

// Licenses calls fn with licenses, the newest first.
func (d *DB) Licenses(ctx context.Context, f LicenseFilter, fn func(Licensed) error) error {
	if f.Limit == 0 {
		f.Limit = math.MaxInt32
	}
	args := []any{f.Workspace, f.Item, f.Limit}
	one := ""
	if f.Purchase != 0 {
		one = ` AND l.purchase_id = $4`
		args = append(args, f.Purchase)
	}
	return sqldb.Each(ctx, d.Queries, scanLicensed, fn, `SELECT `+licenseColumns+`, `+purchaseItemColumns+` FROM `+licensedTables+`
		WHERE (CAST($1 AS text) = '' OR w.username = $1) AND (CAST($2 AS bigint) = 0 OR p.item_id = $2)`+one+`
		ORDER BY l.issued_at DESC, l.id LIMIT $3`, args...)
}

// EachLicense calls fn with every license of the store, by id.
func (d *DB) EachLicense(ctx context.Context, fn func(Licensed) error) error {
	return sqldb.Each(ctx, d.Queries, scanLicensed, fn, `SELECT `+licenseColumns+`, `+purchaseItemColumns+` FROM `+licensedTables+`
		ORDER BY l.id`)
}

// licensable is what a purchase p must be to get a license.
const licensable = `p.state = 'active' AND NOT EXISTS (SELECT 1 FROM licenses r WHERE r.purchase_id = p.id AND r.ended = 'revoked')`

// AddLicense writes a new one if its purchase is active, has known licenses, those
// that have ended among them, and none that was revoked; it reports whether it did.
// Others who would change the purchase or its licenses wait until the transaction
// ends. [sqldb.ErrExists] when the purchase has one in use for this domain.
func (d *DB) AddLicense(ctx context.Context, l License, known int) (added bool, err error) {
	if err := d.Lock(ctx, "purchases", "id", l.PurchaseID); err != nil {
		return false, err
	}
	n, err := d.Exec(ctx, `INSERT INTO licenses (id, purchase_id, domain, wildcard, free, issued_at, ended)
		SELECT CAST($1 AS text), p.id, CAST($3 AS text), CAST($7 AS boolean), CAST($4 AS boolean), CAST($5 AS text), ''
		FROM purchases p WHERE p.id = $2 AND `+licensable+`
			AND (SELECT count(*) FROM licenses l WHERE l.purchase_id = $2) = $6`,
		l.ID, l.PurchaseID, l.Domain, l.Free, column(&l.IssuedAt), known, l.Wildcard)
	return n == 1, err
}

// WidenLicense lets one be for the hosts one level below its domain, too, if it has
// not ended and its purchase may get licenses; it reports whether it did.
func (d *DB) WidenLicense(ctx context.Context, l License) (widened bool, err error) {
	if err := d.Lock(ctx, "purchases", "id", l.PurchaseID); err != nil {
		return false, err
	}
	n, err := d.Exec(ctx, `UPDATE licenses SET wildcard = true WHERE id = $1 AND ended = ''
		AND EXISTS (SELECT 1 FROM purchases p WHERE p.id = licenses.purchase_id AND `+licensable+`)`, l.ID)
	return n == 1, err
}

// EndLicense ends one, and puts it on the list of revoked licenses.
func (d *DB) EndLicense(ctx context.Context, id string, how Ending, at countersign.Timestamp) error {
	return d.Change(ctx, TopicLicenses, `UPDATE licenses SET ended = $1, ended_at = $2 WHERE id = $3`, string(how), column(&at), id)
}

// RevokedLicenses lists the ids of licenses that have ended or whose purchase is
// not good any more: those that ended last, limit of them.
func (d *DB) RevokedLicenses(ctx context.Context, limit int) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT l.id FROM licenses l JOIN purchases p ON p.id = l.purchase_id
		WHERE l.ended <> '' OR p.state <> 'active' ORDER BY coalesce(l.ended_at, p.state_at, l.issued_at) DESC, l.id LIMIT $1`, limit)
}
