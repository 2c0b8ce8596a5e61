package storedb

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// State is what became of a purchase.
type State string

// The states of a purchase.
const (
	StateActive      State = "active"
	StateRefunded    State = "refunded"
	StateChargedBack State = "charged_back"
	StateRevoked     State = "revoked"
)

// Digest is the keyed digest of a folded purchase code. It is never negative.
type Digest = int64

// Purchase is a sale of an item.
type Purchase struct {
	// ID stays for good; Digest changes with the key file.
	ID          int64
	Digest      Digest
	Code        string
	WorkspaceID int64
	ItemID      int64
	License     string
	Price       countersign.Money
	Currency    string
	// SupportedUntil is zero when the purchase was sold without support.
	SupportedUntil countersign.Timestamp
	Downloaded     bool
	SoldAt         countersign.Timestamp
	State          State
	// StateAt is when the state last changed, zero when that is not known.
	StateAt    countersign.Timestamp
	BuyerName  string
	BuyerEmail string
}

const purchaseColumns = `id, code_digest, code, workspace_id, item_id, license, price, currency, supported_until,
	downloaded, sold_at, state, state_at, buyer_name, buyer_email`

const selectValidation = `SELECT id, code, item_id, license, price, currency, supported_until, downloaded, sold_at, state
	FROM purchases WHERE code_digest = $1 AND workspace_id = $2`

// PurchaseText is what a validation needs of a purchase, as the columns hold it: times
// as they are printed, SupportedUntil empty when it was sold without support.
type PurchaseText struct {
	ID             int64
	Code           []byte
	ItemID         int64
	License        string
	Price          countersign.Money
	Currency       string
	SupportedUntil []byte
	Downloaded     bool
	SoldAt         []byte
	State          State
}

// FindPurchase finds a purchase of a workspace by the digest of its code, and returns
// what read makes of it; read may not keep the text or its bytes. It is the query that
// every validation waits for.
func FindPurchase[T any](ctx context.Context, d *DB, workspace int64, digest Digest, read func(*PurchaseText) T) (found T, err error) {
	row := purchaseRows.Get().(*purchaseRow)
	defer purchaseRows.Put(row)
	if err := d.purchase.Row(ctx, digest, workspace, row.dest...); err != nil {
		return found, err // the row still holds the last purchase
	}
	return read(&row.PurchaseText), nil
}

// purchaseRow is where a lookup writes. It is used again: most of what it
// holds from the last purchase is the same in the next.
type purchaseRow struct {
	PurchaseText
	dest []any
}

var purchaseRows = sync.Pool{New: func() any {
	r := new(purchaseRow)
	r.dest = []any{
		&r.ID, &r.Code, &r.ItemID, &r.License, (*int64)(&r.Price), &r.Currency, &r.SupportedUntil, &r.Downloaded, &r.SoldAt, (*string)(&r.State),
	}
	return r
}}

func scanPurchase(r sqldb.Row) (p Purchase, err error) {
	err = r.Scan(&p.ID, &p.Digest, &p.Code, &p.WorkspaceID, &p.ItemID, &p.License, (*int64)(&p.Price), &p.Currency, column(&p.SupportedUntil),
		&p.Downloaded, column(&p.SoldAt), &p.State, column(&p.StateAt), &p.BuyerName, &p.BuyerEmail)
	return p, err
}

// PurchaseByDigest finds a purchase of any workspace, for the operator.
func (d *DB) PurchaseByDigest(ctx context.Context, digest Digest) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, `SELECT `+purchaseColumns+` FROM purchases WHERE code_digest = $1`, digest)
}

// PurchaseByID finds a purchase of any workspace, for the operator.
func (d *DB) PurchaseByID(ctx context.Context, id int64) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, `SELECT `+purchaseColumns+` FROM purchases WHERE id = $1`, id)
}

// LockPurchase finds a purchase by its id and makes others who would change it wait
// until the transaction ends.
func (d *DB) LockPurchase(ctx context.Context, id int64) (Purchase, error) {
	return sqldb.Locked(ctx, d.Queries, "purchases", "id", id, d.PurchaseByID)
}

// EachPurchase calls fn with every purchase of the store, by code.
func (d *DB) EachPurchase(ctx context.Context, fn func(Purchase) error) error {
	return sqldb.Each(ctx, d.Queries, scanPurchase, fn, `SELECT `+purchaseColumns+` FROM purchases ORDER BY code`)
}

// SampleCodes reads the codes of some purchases, limit at most. They are a fair sample:
// their digests, in whose order they stand, are keyed.
func (d *DB) SampleCodes(ctx context.Context, limit int) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT code FROM purchases ORDER BY code_digest LIMIT $1`, limit)
}

// AddPurchase writes a new one and returns its id; [sqldb.ErrExists] when the code is
// taken.
func (d *DB) AddPurchase(ctx context.Context, p Purchase) (id int64, err error) {
	if err := d.Mark(ctx, TopicPurchases, p.Ref()); err != nil {
		return 0, err
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO purchases (`+purchaseColumns+`)
		VALUES (`+d.newPurchaseID(`(`+highestPurchaseID+`)`, `1`)+`, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		RETURNING id`, purchaseArgs(p)...)
}

func purchaseArgs(p Purchase) []any {
	return []any{
		p.Digest, p.Code, p.WorkspaceID, p.ItemID, p.License, int64(p.Price), p.Currency, column(&p.SupportedUntil),
		p.Downloaded, column(&p.SoldAt), string(p.State), column(&p.StateAt), p.BuyerName, p.BuyerEmail,
	}
}

// SetPurchaseState changes what became of a purchase.
func (d *DB) SetPurchaseState(ctx context.Context, p Purchase, state State, at countersign.Timestamp) error {
	if err := d.Mark(ctx, TopicPurchases, p.Ref()); err != nil {
		return err
	}
	return d.Change(ctx, TopicLicenses, `UPDATE purchases SET state = $1, state_at = $2 WHERE id = $3`, string(state), column(&at), p.ID)
}

// UpdatePurchaseTerms writes the license type, the support, the download and the buyer of a purchase, found by its id.
func (d *DB) UpdatePurchaseTerms(ctx context.Context, p Purchase) error {
	if err := d.Mark(ctx, TopicPurchases, p.Ref()); err != nil {
		return err
	}
	return d.Run(ctx, `UPDATE purchases SET license = $1, supported_until = $2, downloaded = $3, buyer_name = $4, buyer_email = $5 WHERE id = $6`,
		p.License, column(&p.SupportedUntil), p.Downloaded, p.BuyerName, p.BuyerEmail, p.ID)
}

// Ref names the purchase in a mark: its workspace and its folded code.
func (p Purchase) Ref() string {
	return strconv.FormatInt(p.WorkspaceID, 10) + " " + strings.ToLower(p.Code) // ASCII alone
}

// ParsePurchaseRef reads the ref of a change of topic purchases; ok is false
// when it means all purchases.
func ParsePurchaseRef(ref string) (workspace int64, folded string, ok bool) {
	id, folded, ok := strings.Cut(ref, " ")
	workspace, err := strconv.ParseInt(id, 10, 64)
	return workspace, folded, ok && err == nil
}
