package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// DownloadLink lets a buyer download the file of the purchase's item.
type DownloadLink struct {
	Digest    string // of its token, in hex
	Purchase  int64
	CreatedAt countersign.Timestamp
	CreatedBy string
	ExpiresAt countersign.Timestamp
	// DownloadedAt is when it was first used, zero before.
	DownloadedAt countersign.Timestamp
}

const downloadLinkColumns = `digest, purchase_id, created_at, created_by, expires_at, downloaded_at`

func scanDownloadLink(r sqldb.Row) (l DownloadLink, err error) {
	err = r.Scan(&l.Digest, &l.Purchase, column(&l.CreatedAt), &l.CreatedBy, column(&l.ExpiresAt), column(&l.DownloadedAt))
	return l, err
}

// DownloadLink reads one by the digest of its token.
func (d *DB) DownloadLink(ctx context.Context, digest string) (DownloadLink, error) {
	return sqldb.One(ctx, d.Queries, scanDownloadLink, `SELECT `+downloadLinkColumns+` FROM download_links WHERE digest = $1`, digest)
}

// AddDownloadLink writes a new one.
func (d *DB) AddDownloadLink(ctx context.Context, l DownloadLink) error {
	return d.Run(ctx, `INSERT INTO download_links (`+downloadLinkColumns+`) VALUES ($1, $2, $3, $4, $5, $6)`,
		l.Digest, l.Purchase, column(&l.CreatedAt), l.CreatedBy, column(&l.ExpiresAt), column(&l.DownloadedAt))
}

// UseDownloadLink notes when a link was first used.
func (d *DB) UseDownloadLink(ctx context.Context, digest string, at countersign.Timestamp) error {
	return d.Run(ctx, `UPDATE download_links SET downloaded_at = $1 WHERE digest = $2 AND downloaded_at IS NULL`, column(&at), digest)
}
