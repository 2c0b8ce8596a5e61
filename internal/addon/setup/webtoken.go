package setup

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/token"
)

// prefixUpdate begins the tokens for update.php.
const prefixUpdate = "cau_"

// webTokenFile holds the digest of the token for update.php and its end.
const webTokenFile = "update-token"

// webTokenLife is how long a token for update.php is good.
const webTokenLife = time.Hour

var errWebToken = fault.Forbidden("update_token", "The update needs a signed-in administrator, the set-up link, or a new token")

// NewWebToken creates the one-time token for the header X-Update-Token of update.php.
// It expires after an hour and replaces an earlier one. Its digest is in a file of the
// data folder, so that it works before the tables exist.
func (s *Service) NewWebToken(ctx context.Context, actor people.Actor) (value string, expires time.Time, err error) {
	if err := access.May(actor, access.Operate); err != nil {
		return "", time.Time{}, err
	}
	value, expires = token.New(prefixUpdate), s.o.Access.Now().Add(webTokenLife).Truncate(time.Second)
	digest := token.Digest(value)
	text := fmt.Sprintf("%s\n%s\n", hex.EncodeToString(digest[:]), expires.UTC().Format(time.RFC3339))
	if err := s.writePrivate(webTokenFile, text); err != nil {
		return "", time.Time{}, err
	}
	return value, expires, s.auditWebToken(ctx, actor)
}

// auditWebToken writes down that a token was made, once there are tables.
func (s *Service) auditWebToken(ctx context.Context, actor people.Actor) error {
	if state, err := s.look(ctx); err != nil || (state != access.StateReady && state != access.StateOutdated) {
		return err
	}
	return s.o.DB.Tx(ctx, func(tx *addondb.DB) error {
		return s.o.Access.Audit(ctx, tx, actor, people.Event{Action: access.ActionUpdateTokenCreate})
	})
}

// CheckWebToken reports whether a token is good, without using it up: for GET. Its
// error is of kind Forbidden.
func (s *Service) CheckWebToken(_ context.Context, value string) error {
	if !token.Valid(prefixUpdate, value) {
		return errWebToken
	}
	text, err := os.ReadFile(s.webTokenPath())
	if errors.Is(err, os.ErrNotExist) {
		return errWebToken
	}
	if err != nil {
		return s.folderFault(webTokenFile, err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 2 {
		return errWebToken
	}
	expires, err := time.Parse(time.RFC3339, lines[1])
	digest := token.Digest(value)
	same := subtle.ConstantTimeCompare([]byte(lines[0]), []byte(hex.EncodeToString(digest[:]))) == 1
	if err != nil || !same || !s.o.Access.Now().Before(expires) {
		return errWebToken
	}
	return nil
}

// UseWebToken uses a token up: for POST. Of two who use it at once, one gets an
// error of kind Forbidden.
func (s *Service) UseWebToken(ctx context.Context, value string) error {
	if err := s.CheckWebToken(ctx, value); err != nil {
		return err
	}
	err := os.Remove(s.webTokenPath())
	if errors.Is(err, os.ErrNotExist) {
		return errWebToken
	}
	if err != nil {
		return s.folderFault(webTokenFile, err)
	}
	return nil
}

func (s *Service) webTokenPath() string {
	return filepath.Join(s.o.Instance.Location.Dir, webTokenFile)
}

// TokenHolder is whoever has a token that was printed to the operator.
type TokenHolder struct {
	Actor people.Actor
	// Once reports that one run of the update uses the token up ([Service.UseWebToken]). The
	// other is that of the set-up link.
	Once bool
}

// TokenHolder finds out whose token this is, without using it up. Errors are those of
// [Service.CheckWebToken] and [Service.CheckLink]; the holder beside them may do nothing.
func (s *Service) TokenHolder(ctx context.Context, value string, frontEnd people.FrontEnd, from netip.Addr) (TokenHolder, error) {
	holder := TokenHolder{Once: strings.HasPrefix(value, prefixUpdate)}
	name, check := "set-up link", s.CheckLink
	if holder.Once {
		name, check = "update token", s.CheckWebToken
	}
	if err := check(ctx, value); err != nil {
		return holder, err
	}
	holder.Actor = people.Actor{Kind: people.KindOperator, ID: name, FrontEnd: frontEnd, Addr: from}
	return holder, nil
}
