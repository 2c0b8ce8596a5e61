package setup

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
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

// linkLife is how long a set-up link is good.
const linkLife = 24 * time.Hour

// NewLink creates the token that creates the first administrator, valid for 24
// hours, and writes it to [LinkFile]. Earlier ones end. Before the first update it is
// only in that file; the update moves it to the database. If an administrator exists,
// it is a conflict (already_set_up).
func (s *Service) NewLink(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return s.link(ctx, actor, s.o.Instance.People.NewSetupLink)
}

// Link is NewLink for a server that starts: after the first update, a link that is valid for another hour
// stays, so that all servers of a database print the same.
func (s *Service) Link(ctx context.Context, actor people.Actor) (token string, expires time.Time, err error) {
	return s.link(ctx, actor, s.o.Instance.People.SetupLink)
}

func (s *Service) link(ctx context.Context, actor people.Actor, create func(context.Context, people.Actor) (string, time.Time, error)) (token string, expires time.Time, err error) {
	if err := access.May(actor, access.Operate); err != nil {
		return "", time.Time{}, err
	}
	state, err := s.look(ctx)
	switch {
	case err != nil:
		return "", time.Time{}, err
	case state == access.StateNewer:
		return "", time.Time{}, instance.ErrSchemaNewer
	case state == access.StateNew:
		token, expires = people.NewLinkToken(), s.o.Access.Now().Add(linkLife).Truncate(time.Second)
	default:
		if token, expires, err = create(ctx, actor); err != nil {
			return "", time.Time{}, err
		}
	}
	if err := s.writePrivate(LinkFile, token+"\n"); err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// CheckLink reports whether a set-up token is good, before and after the first
// update. It does not use it up. Its errors are those of people.CheckSetupLink.
func (s *Service) CheckLink(ctx context.Context, token string) error {
	state, err := s.look(ctx)
	if keyfile.IsDatabaseMissing(err) {
		return s.o.Access.NotReady() // a visitor learns no more
	}
	if err != nil {
		return err
	}
	if state != access.StateNew {
		return s.o.Instance.People.CheckSetupLink(ctx, token)
	}
	file, err := s.readLinkFile()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if file.token == "" || subtle.ConstantTimeCompare([]byte(file.token), []byte(token)) != 1 {
		return fault.Forbidden("link_unknown", "Unknown set-up link. It may have expired, or a newer one has replaced it")
	}
	if !file.good(s.o.Access.Now()) {
		return fault.Forbidden("link_expired", "This set-up link has expired")
	}
	return nil
}

// adoptLink writes the token of the file into the database, so that a link
// made before the first update still works.
func (s *Service) adoptLink(ctx context.Context, tx *addondb.DB) error {
	file, err := s.readLinkFile()
	if err != nil || !file.good(s.o.Access.Now()) {
		return nil //nolint:nilerr // without a link there is nothing to take over
	}
	return s.o.Instance.People.AdoptSetupLink(ctx, &tx.DB, file.token, file.expires)
}

// writePrivate writes a file of the data folder that only its owner may read. It
// is there whole or not at all.
func (s *Service) writePrivate(name, text string) error {
	temp, err := os.CreateTemp(s.o.Instance.Location.Dir, name+".*") // mode 0600
	if err != nil {
		return s.folderFault(name, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Sync(), temp.Close(), os.Chtimes(temp.Name(), s.o.Access.Now(), s.o.Access.Now())); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(s.o.Instance.Location.Dir, name))
	}
	if err != nil {
		return s.folderFault(name, err)
	}
	return nil
}

func (s *Service) folderFault(name string, err error) error {
	return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The file %s can't be written in the data folder %s (%v)", name, s.o.Instance.Location.Dir, fault.FileReason(err))), err)
}
