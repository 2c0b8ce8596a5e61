package peopledb

import (
	"context"
	"net/netip"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Audit is one line of the audit log: who did what to what, and when.
type Audit struct {
	At    sqldb.Time
	Actor people.Actor
	// Action is noun.verb, for example "key.reveal".
	Action string
	// Workspace is the username of the workspace concerned, "" for none.
	Workspace string
	// Subject names what was acted upon; never a secret.
	Subject string
	// Detail says more in words; never a secret.
	Detail string
}

// AddAudit writes a line, in the transaction of what it describes.
func (d *DB) AddAudit(ctx context.Context, a Audit) error {
	address := ""
	if a.Actor.Addr.IsValid() {
		address = a.Actor.Addr.String()
	}
	_, err := d.Exec(ctx, `INSERT INTO audit
		(at, actor_kind, actor, face, address, action, workspace, subject, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		a.At, string(a.Actor.Kind), a.Actor.ID, string(a.Actor.Face), address,
		a.Action, a.Workspace, a.Subject, a.Detail)
	return err
}

// Audits lists the newest lines, newest first.
func (d *DB) Audits(ctx context.Context, limit int) ([]Audit, error) {
	return sqldb.List(ctx, d.Queries, scanAudit, `SELECT at, actor_kind, actor, face, address, action, workspace, subject, detail
		FROM audit ORDER BY id DESC LIMIT $1`, limit)
}

func scanAudit(r sqldb.Row) (Audit, error) {
	var a Audit
	var address string
	err := r.Scan(&a.At, &a.Actor.Kind, &a.Actor.ID, &a.Actor.Face, &address, &a.Action, &a.Workspace, &a.Subject, &a.Detail)
	if err == nil && address != "" {
		a.Actor.Addr, err = netip.ParseAddr(address)
	}
	return a, err
}
