// Package people identifies actors: the operator at the command line, a program with an API key, a signed-in user. It
// has users, sign-in, two-step sign-in, sessions, set-up links and the audit log. Methods that are not public take an
// Actor and write an audit entry.
package people

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// People is the users of one database. Its methods may be called from many
// goroutines.
type People struct {
	*AuditLog // has the queries
	box       func() *keyfile.Box
	now       func() time.Time
	log       *slog.Logger
	hashes    hashes
	limits    limits
	failed    failedSignIns
}

// Options is what the users of a database are built from. All fields are needed.
type Options struct {
	DB *peopledb.DB
	// Box returns nil until the key file is known; what needs it answers [countersign.KindUnavailable] until then.
	Box func() *keyfile.Box
	Now func() time.Time
	Log *slog.Logger
	// HashCost of passwords; the zero value is the real one.
	HashCost HashCost
	// Workspaces reports that entries of the audit log may be about a workspace, which rows and exports then name.
	Workspaces bool
}

// New returns the users of a database.
func New(o Options) *People {
	return &People{AuditLog: newAuditLog(o.DB, o.Workspaces), box: o.Box, now: o.Now, log: o.Log, hashes: newHashes(o.HashCost), limits: newLimits(o.Box, o.Now)}
}

func (p *People) stamp() sqldb.Time { return sqldb.Time{Time: p.now()} }

// record writes a line of the audit log in the transaction of the act.
func (p *People) record(ctx context.Context, tx *peopledb.DB, a Actor, e Event) error {
	return p.recordAt(ctx, tx, p.now(), addressText(a.Addr), a, e)
}

// recordAt is record for a time and an address, or a network, of their own.
func (p *People) recordAt(ctx context.Context, tx *peopledb.DB, at time.Time, address string, a Actor, e Event) error {
	if !slices.Contains(actions, e.Action) {
		return fmt.Errorf("people: the action %q is not in the list of actions", e.Action)
	}
	return recordAt(ctx, tx, at, address, a, e)
}

// openBox is the box of the key file.
func (p *People) openBox() (*keyfile.Box, error) {
	if box := p.box(); box != nil {
		return box, nil
	}
	return nil, errNotReady
}

var errNotReady = fault.WithRetry(fault.Unavailable(countersign.CodeUnavailable, "The database is not ready yet; try again in a moment"), 2*time.Second)

// digestOf is how a token or a recovery code is found. SHA-256 is enough for
// what was drawn at random from 2^80 and more.
func digestOf(token string) peopledb.Digest { return sha256.Sum256([]byte(token)) }
