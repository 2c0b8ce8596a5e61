package peopledb

import "context"

// AddRecoveryCode keeps the digest of a code.
func (d *DB) AddRecoveryCode(ctx context.Context, user int64, digest Digest) error {
	return d.Run(ctx, `INSERT INTO recovery_codes (user_id, digest) VALUES ($1, $2)`, user, digest[:])
}

// UseRecoveryCode removes a code and reports whether it was there.
func (d *DB) UseRecoveryCode(ctx context.Context, user int64, digest Digest) (bool, error) {
	n, err := d.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1 AND digest = $2`, user, digest[:])
	return n == 1, err
}

// DeleteRecoveryCodes removes all codes of a user.
func (d *DB) DeleteRecoveryCodes(ctx context.Context, user int64) error {
	return d.Run(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, user)
}
