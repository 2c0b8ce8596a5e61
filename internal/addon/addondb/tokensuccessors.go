package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// NoteToken notes that a token was seen. Others who note it wait until the transaction ends.
func (d *DB) NoteToken(ctx context.Context, digest []byte) error {
	return d.Run(ctx, `INSERT INTO token_successors (token_digest, successor) VALUES ($1, 0)
		ON CONFLICT (token_digest) DO UPDATE SET successor = token_successors.successor`, digest)
}

// SetFirstSuccessor notes that a purchase will take the place of a token, unless another one is noted.
func (d *DB) SetFirstSuccessor(ctx context.Context, digest []byte, purchase int64) error {
	return d.Run(ctx, `INSERT INTO token_successors (token_digest, successor) VALUES ($1, $2)
		ON CONFLICT (token_digest) DO UPDATE SET successor = excluded.successor WHERE token_successors.successor = 0`, digest, purchase)
}

// SetSuccessor notes that a purchase took the place of a token.
func (d *DB) SetSuccessor(ctx context.Context, digest []byte, purchase int64) error {
	return d.Run(ctx, `INSERT INTO token_successors (token_digest, successor) VALUES ($1, $2)
		ON CONFLICT (token_digest) DO UPDATE SET successor = excluded.successor`, digest, purchase)
}

// Successor reads the purchase that took the place of a token, or will do so.
func (d *DB) Successor(ctx context.Context, digest []byte) (Purchase, error) {
	return sqldb.One(ctx, d.Queries, scanPurchase, selectPurchases+`WHERE id = (SELECT successor FROM token_successors WHERE token_digest = $1)`, digest)
}

// ForgetToken deletes what is known of the place of a purchase in a chain.
func (d *DB) ForgetToken(ctx context.Context, p Purchase) error {
	return d.Run(ctx, `DELETE FROM token_successors WHERE successor = $1 OR token_digest = $2 AND successor = 0`, p.ID, p.TokenDigest)
}

// ForgetTokens is ForgetToken of all purchases.
func (d *DB) ForgetTokens(ctx context.Context) error {
	return d.Run(ctx, `DELETE FROM token_successors`)
}
