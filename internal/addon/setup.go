package addon

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

// setupLife is how long a set-up link is good.
const setupLife = 24 * time.Hour

// NewSetupLink creates the token that creates the first administrator, valid for 24
// hours, and writes it to [SetupFile]. Earlier ones end. Before the first update it is
// only in that file; the update moves it to the database. If an administrator exists,
// it is a conflict (already_set_up).
func (a *Addon) NewSetupLink(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return a.setupLink(ctx, actor, a.people.NewSetupLink)
}

// SetupLink is NewSetupLink for a server that starts: after the first update, a link that is valid for another hour
// stays, so that all servers of a database print the same.
func (a *Addon) SetupLink(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return a.setupLink(ctx, actor, a.people.SetupLink)
}

func (a *Addon) setupLink(ctx context.Context, actor people.Actor, create func(context.Context, people.Actor) (string, time.Time, error)) (token string, expires time.Time, err error) {
	if err := access.May(actor, access.Operate); err != nil {
		return "", time.Time{}, err
	}
	state, err := a.look(ctx)
	switch {
	case err != nil:
		return "", time.Time{}, err
	case state == StateNewer:
		return "", time.Time{}, errNewer
	case state == StateNew:
		token, expires = people.NewLinkToken(), a.now().Add(setupLife).Truncate(time.Second)
	default:
		if token, expires, err = create(ctx, actor); err != nil {
			return "", time.Time{}, err
		}
	}
	if err := a.writePrivate(SetupFile, token+"\n"); err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// CheckSetupLink reports whether a set-up token is good, before and after the first
// update. It does not use it up. Its errors are those of people.CheckSetupLink.
func (a *Addon) CheckSetupLink(ctx context.Context, token string) error {
	state, err := a.look(ctx)
	if keyfile.IsDatabaseMissing(err) {
		return errNotLooked // a visitor learns no more
	}
	if err != nil {
		return err
	}
	if state != StateNew {
		return a.people.CheckSetupLink(ctx, token)
	}
	file, err := a.readSetupFile()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if file.token == "" || subtle.ConstantTimeCompare([]byte(file.token), []byte(token)) != 1 {
		return fault.Forbidden("link_unknown", "Unknown set-up link. It may have expired, or a newer one has replaced it")
	}
	if !file.good(a.now()) {
		return fault.Forbidden("link_expired", "This set-up link has expired")
	}
	return nil
}

// adoptSetupLink writes the token of the file into the database, so that a link
// made before the first update still works.
func (a *Addon) adoptSetupLink(ctx context.Context, tx *addondb.DB) error {
	file, err := a.readSetupFile()
	if err != nil || !file.good(a.now()) {
		return nil //nolint:nilerr // without a link there is nothing to take over
	}
	return a.people.AdoptSetupLink(ctx, &tx.DB, file.token, file.expires)
}

// writePrivate writes a file of the data folder that only its owner may read. It
// is there whole or not at all.
func (a *Addon) writePrivate(name, text string) error {
	temp, err := os.CreateTemp(a.options.Dir, name+".*") // mode 0600
	if err != nil {
		return a.folderFault(name, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Sync(), temp.Close(), os.Chtimes(temp.Name(), a.now(), a.now())); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(a.options.Dir, name))
	}
	if err != nil {
		return a.folderFault(name, err)
	}
	return nil
}

func (a *Addon) folderFault(name string, err error) error {
	return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The file %s can't be written in the data folder %s (%v)", name, a.options.Dir, fault.FileReason(err))), err)
}
