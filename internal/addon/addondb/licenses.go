package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// PurchaseCode is a purchase code, sealed, and what may be told of it.
type PurchaseCode struct {
	ID   int64
	Hint string
	// Store is the address of the only store that it is sent to.
	Store  string
	Sealed []byte
	KeptAt sqldb.Time
}

// License is a license file that a store gave.
type License struct {
	ID        int64
	LicenseID string
	CodeID    int64
	Domain    string
	// Domains are those that it opens for.
	Domains        sqldb.JSON[[]string]
	ItemID         int64
	ItemName       string
	LicenseType    string
	SupportedUntil sqldb.Time // zero: without support
	IssuedAt       sqldb.Time
	MadeAt         sqldb.Time
	MovedAt        sqldb.Time // zero: it was not moved away
	CheckedAt      sqldb.Time // zero: never
	// Answer is what the store said then.
	Answer string
	File   string
}

const (
	selectPurchaseCodes = `SELECT id, hint, store, sealed, kept_at FROM purchase_codes `
	selectLicenses      = `SELECT id, license_id, code_id, domain, domains, item_id, item_name, license_type, supported_until,
		issued_at, made_at, moved_at, checked_at, answer, file FROM licenses `
)

func scanPurchaseCode(r sqldb.Row) (c PurchaseCode, err error) {
	err = r.Scan(&c.ID, &c.Hint, &c.Store, &c.Sealed, &c.KeptAt)
	return c, err
}

func scanLicense(r sqldb.Row) (l License, err error) {
	err = r.Scan(&l.ID, &l.LicenseID, &l.CodeID, &l.Domain, &l.Domains, &l.ItemID, &l.ItemName, &l.LicenseType, &l.SupportedUntil,
		&l.IssuedAt, &l.MadeAt, &l.MovedAt, &l.CheckedAt, &l.Answer, &l.File)
	return l, err
}

// PurchaseCodes lists all, the newest first.
func (d *DB) PurchaseCodes(ctx context.Context) ([]PurchaseCode, error) {
	return sqldb.List(ctx, d.Queries, scanPurchaseCode, selectPurchaseCodes+`ORDER BY id DESC`)
}

// PurchaseCode reads one.
func (d *DB) PurchaseCode(ctx context.Context, id int64) (PurchaseCode, error) {
	return sqldb.One(ctx, d.Queries, scanPurchaseCode, selectPurchaseCodes+`WHERE id = $1`, id)
}

// AddPurchaseCode writes one and returns its id.
func (d *DB) AddPurchaseCode(ctx context.Context, c PurchaseCode) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO purchase_codes (hint, store, sealed, kept_at) VALUES ($1, $2, $3, $4) RETURNING id`,
		c.Hint, c.Store, c.Sealed, c.KeptAt)
}

// SetSealedCode replaces the sealed text of one; an empty one is a text that is lost.
func (d *DB) SetSealedCode(ctx context.Context, id int64, sealed []byte) error {
	return d.Run(ctx, `UPDATE purchase_codes SET sealed = $1 WHERE id = $2`, sealed, id)
}

// DeleteUnusedCode takes a code away that no license is of.
func (d *DB) DeleteUnusedCode(ctx context.Context, id int64) error {
	return d.Run(ctx, `DELETE FROM purchase_codes WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM licenses l WHERE l.code_id = purchase_codes.id)`, id)
}

// Licenses lists all, the newest first.
func (d *DB) Licenses(ctx context.Context) ([]License, error) {
	return sqldb.List(ctx, d.Queries, scanLicense, selectLicenses+`ORDER BY id DESC`)
}

// License reads one.
func (d *DB) License(ctx context.Context, id int64) (License, error) {
	return sqldb.One(ctx, d.Queries, scanLicense, selectLicenses+`WHERE id = $1`, id)
}

// PutLicense writes a license that the store gave for the first time or again, and
// returns its id. What was known of its state is forgotten.
func (d *DB) PutLicense(ctx context.Context, l License) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO licenses (license_id, code_id, domain, domains, item_id, item_name,
		license_type, supported_until, issued_at, made_at, answer, file) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', $11)
		ON CONFLICT (code_id, license_id) DO UPDATE SET domains = excluded.domains, item_name = excluded.item_name, license_type = excluded.license_type,
			supported_until = excluded.supported_until, file = excluded.file, moved_at = NULL, checked_at = NULL, answer = '' RETURNING id`,
		l.LicenseID, l.CodeID, l.Domain, l.Domains, l.ItemID, l.ItemName, l.LicenseType, l.SupportedUntil, l.IssuedAt, l.MadeAt, l.File)
}

// EndLicenses notes that the licenses of a code for a domain were moved away, but
// for the one that took their place.
func (d *DB) EndLicenses(ctx context.Context, code int64, domain string, but int64, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE licenses SET moved_at = $1 WHERE code_id = $2 AND domain = $3 AND id <> $4 AND moved_at IS NULL`, at, code, domain, but)
}

// NoteAnswer keeps what the store said of a license.
func (d *DB) NoteAnswer(ctx context.Context, id int64, answer string, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE licenses SET answer = $1, checked_at = $2 WHERE id = $3`, answer, at, id)
}

// NoteRevoked is NoteAnswer of a license of a code that is named as the store names
// it.
func (d *DB) NoteRevoked(ctx context.Context, code int64, licenseID, answer string, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE licenses SET answer = $1, checked_at = $2 WHERE code_id = $3 AND license_id = $4`, answer, at, code, licenseID)
}

// DeleteLicense deletes one.
func (d *DB) DeleteLicense(ctx context.Context, id int64) error {
	return d.Run(ctx, `DELETE FROM licenses WHERE id = $1`, id)
}

// DeleteLicensesOf deletes those of a code and returns their domains.
func (d *DB) DeleteLicensesOf(ctx context.Context, code int64) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `DELETE FROM licenses WHERE code_id = $1 RETURNING domain`, code)
}
