package storedb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// AddLicense stages the license of a line, with the digest of its purchase's code.
func (s *Stage) AddLicense(ctx context.Context, line int, digest Digest, l License) error {
	return s.licenses.Add(ctx, int64(line)*LineParts, l.ID, digest, l.Domain, l.Wildcard, l.Free, column(&l.IssuedAt), string(l.Ended), column(&l.EndedAt))
}

// LicenseConflict is a staged license that can't be written, and why.
type LicenseConflict struct {
	Line int
	// Unknown reports that no purchase has its code; Taken that its id belongs to a
	// license of another purchase or domain; neither that its purchase has another
	// license for the domain.
	Unknown, Taken bool
}

// StageLicenseConflicts lists the lines of staged licenses that can't be written.
// Purchases must have been moved, and one line must be left for each id.
func (d *DB) StageLicenseConflicts(ctx context.Context) ([]LicenseConflict, error) {
	err := d.Run(ctx, `UPDATE stage_licenses SET purchase_id = (SELECT p.id FROM purchases p WHERE p.code_digest = stage_licenses.code_digest)`)
	if err != nil {
		return nil, err
	}
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c LicenseConflict, err error) {
		err = r.Scan(&c.Line, &c.Unknown, &c.Taken)
		return c, err
	}, `SELECT `+lineNumber("c")+` AS number, no_purchase, taken FROM (
		SELECT s.line AS line,
			s.purchase_id IS NULL AS no_purchase,
			EXISTS (SELECT 1 FROM licenses l WHERE l.id = s.id AND (l.purchase_id <> s.purchase_id OR l.domain <> s.domain)) AS taken,
			s.ended = '' AND (
				EXISTS (SELECT 1 FROM licenses l WHERE l.purchase_id = s.purchase_id AND l.domain = s.domain AND l.ended = '' AND l.id <> s.id
					AND NOT EXISTS (SELECT 1 FROM stage_licenses e WHERE e.id = l.id AND e.ended <> ''))
				OR EXISTS (SELECT 1 FROM stage_licenses e WHERE e.code_digest = s.code_digest AND e.domain = s.domain AND e.ended = ''
					AND e.id <> s.id AND e.line < s.line)) AS doubled
		FROM stage_licenses s) c
		WHERE no_purchase OR taken OR doubled ORDER BY number`)
}

// MoveLicenses writes the staged licenses. A license that has ended stays ended.
func (d *DB) MoveLicenses(ctx context.Context) (Moved, error) {
	if err := d.Mark(ctx, TopicLicenses, ""); err != nil {
		return Moved{}, err
	}
	return d.move(ctx,
		`SELECT count(*) FROM stage_licenses s`,
		`SELECT count(*) FROM stage_licenses s WHERE NOT EXISTS (SELECT 1 FROM licenses l WHERE l.id = s.id)`,
		// Those that have ended come first and leave their domain to the others.
		`INSERT INTO licenses (id, purchase_id, domain, wildcard, free, issued_at, ended, ended_at)
		SELECT s.id, s.purchase_id, s.domain, s.wildcard, s.free, s.issued_at, s.ended, s.ended_at
		FROM stage_licenses s ORDER BY CASE WHEN s.ended = '' THEN 1 ELSE 0 END, s.id
		ON CONFLICT (id) DO UPDATE SET wildcard = excluded.wildcard, free = excluded.free, issued_at = excluded.issued_at,
			ended = CASE WHEN licenses.ended <> '' THEN licenses.ended ELSE excluded.ended END,
			ended_at = CASE WHEN licenses.ended <> '' THEN licenses.ended_at ELSE excluded.ended_at END
		WHERE licenses.wildcard <> excluded.wildcard OR licenses.free <> excluded.free OR licenses.issued_at <> excluded.issued_at
			OR (licenses.ended = '' AND excluded.ended <> '')`)
}
