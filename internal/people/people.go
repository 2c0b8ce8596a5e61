// Package people knows who acts: the operator at the command line, a program
// with an API key, somebody who signed in. It holds the rules of users, sign-in,
// two-step sign-in, sessions, set-up links and the audit log. Rules that are not
// public take an Actor and write down what it did.
package people

import (
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/seal"
)

// People is the users of one database. Its methods may be called from many
// goroutines.
type People struct {
	db  *peopledb.DB
	box func() *seal.Box
	now func() time.Time
	log *slog.Logger
}

// New gives the users of a database. box returns nil until the key file is
// known; what needs it answers [countersign.KindUnavailable] until then.
func New(db *peopledb.DB, box func() *seal.Box, now func() time.Time, log *slog.Logger) *People {
	return &People{db: db, box: box, now: now, log: log}
}
