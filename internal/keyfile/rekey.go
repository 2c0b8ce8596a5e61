package keyfile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// Replaceable is an error of kind Invalid when the key comes from the environment: then
// the program can't replace it.
func (l *Location) Replaceable() error {
	if l.KeyText != "" {
		return fault.Invalid(fault.CodeInvalid, "The key comes from the environment. Remove it there to create a new key file")
	}
	return nil
}

// Old is the key file that belongs to the database when it is there, nil when
// it is lost. A key file that is there and can't be read is an error, and so is
// one of an earlier replacement that could not be put in its place (key_not_placed):
// neither is lost.
func (l *Location) Old(ctx context.Context, db sqldb.Queries) (*Box, error) {
	check, err := db.Meta(ctx, CheckName)
	if err != nil {
		return nil, err
	}
	box, err := l.Load()
	if err == nil && box.Matches(check) {
		return box, nil
	}
	if placed, notPlaced := l.FinishReplace(check); placed != nil || notPlaced != nil {
		return placed, notPlaced
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrNoKeyFile) {
		return nil, l.Unusable(err)
	}
	return nil, nil
}

func (l *Location) notPlaced(cause error) error {
	return fault.WithCause(fault.Conflict("key_not_placed", fmt.Sprintf("The new key file is beside %s but could not replace it (%v); "+
		"make the folder and that file writable for this user: the next command tries again", l.Path(), fault.FileReason(cause))), cause)
}

// Rekey creates a new key file and puts it in the place of the old one. carry brings what
// depends on the key file from the old one, nil when that is lost, to the new one. It runs
// in the transaction that gives the database its new check value, while others who write
// with the key file wait, and is reported to all processes ([Current.Follow]). A process that is killed leaves the old key file or the new one
// in force, never a part of each; Rekey can be repeated.
func (l *Location) Rekey(ctx context.Context, db *sqldb.DB, carry func(tx sqldb.Queries, old, fresh *Box) error) (*Box, error) {
	old, err := l.Old(ctx, db.Queries())
	if err != nil {
		return nil, err
	}
	fresh, err := Stage(l.Dir)
	if err != nil {
		return nil, err
	}
	err = db.Session(ctx, func(session *sqldb.DB) error {
		return session.Tx(ctx, func(tx sqldb.Queries) error {
			if _, err := tx.LockSharedMeta(ctx, CheckName); err != nil {
				return err
			}
			if err := carry(tx, old, fresh); err != nil {
				return err
			}
			if err := tx.Mark(ctx, Topic, ""); err != nil {
				return err
			}
			return tx.SetMeta(ctx, CheckName, fresh.Check())
		})
	})
	if err != nil {
		return nil, err
	}
	return l.FinishReplace(fresh.Check())
}

// Reseal seals again under fresh what old has sealed for a purpose. It returns nil when
// old is nil, which is a lost key file, or can't open it.
func Reseal(old, fresh *Box, purpose string, sealed []byte) []byte {
	if old == nil {
		return nil
	}
	plain, err := old.Open(purpose, sealed)
	if err != nil {
		return nil
	}
	return fresh.Seal(purpose, plain)
}
