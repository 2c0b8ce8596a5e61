package people

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// SessionID names a session. It is not a secret.
type SessionID int64

// Session is a browser in which a user is signed in.
type Session struct {
	ID        SessionID
	Address   string // the last one
	Agent     string
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	ExpiresAt time.Time
}

// SavedSession is what a browser's session holds. The rows are found by a digest
// of the token, which the database does not keep.
type SavedSession struct {
	// User and Generation are of the [User] who signed in, 0 before that. They
	// are fixed with a token's first save: signing in needs a new token.
	User, Generation int64
	// Data is the front end's own.
	Data    []byte
	Expires time.Time
	From    Origin
}

// LoadedSession is a session that has not ended.
type LoadedSession struct {
	ID SessionID
	// User is who is signed in, the zero User when nobody is.
	User    User
	Data    []byte
	Expires time.Time
}

// seenStep is how old what is written of a visit may be, so that not every page
// view is a write.
const seenStep = time.Minute

// LoadSession finds the session of a token; found is false when there is none,
// or when it has expired or was ended.
func (p *People) LoadSession(ctx context.Context, token string) (s LoadedSession, found bool, err error) {
	row, err := p.db.Session(ctx, digestOf(token))
	if errors.Is(err, sqldb.ErrNotFound) {
		return LoadedSession{}, false, nil
	}
	if err != nil || !row.EndedAt.IsZero() || !row.ExpiresAt.After(p.now()) {
		return LoadedSession{}, false, err
	}
	s = LoadedSession{ID: SessionID(row.ID), Data: row.Data, Expires: row.ExpiresAt.Time}
	if row.User == 0 {
		return s, true, nil
	}
	u, err := p.db.User(ctx, row.User)
	if errors.Is(err, sqldb.ErrNotFound) { // removed a moment ago
		return LoadedSession{}, false, nil
	}
	if err != nil || u.Inactive || u.Generation != row.Generation {
		return LoadedSession{}, false, err
	}
	s.User = userOf(u)
	return s, true, nil
}

// SaveSession writes the session of a token. One that was ended meanwhile stays
// ended, without an error.
func (p *People) SaveSession(ctx context.Context, token string, s SavedSession) error {
	row, err := p.db.Session(ctx, digestOf(token))
	if errors.Is(err, sqldb.ErrNotFound) {
		return p.addSession(ctx, token, s)
	}
	switch {
	case err != nil || !row.EndedAt.IsZero():
		return err
	case row.User != s.User:
		return fault.New(countersign.KindInternal, countersign.CodeInternal, "the user of a session can't change; create a new token")
	case p.upToDate(row, s):
		return nil
	}
	row.Data, row.ExpiresAt, row.SeenAt = s.Data, sqldb.Time{Time: s.Expires}, p.stamp()
	row.Address, row.Agent = s.From.address(), s.From.agent()
	return p.db.Tx(ctx, func(tx *peopledb.DB) error { return tx.UpdateSession(ctx, row) })
}

// upToDate reports whether a save would write nothing of use.
func (p *People) upToDate(row peopledb.Session, s SavedSession) bool {
	return bytes.Equal(row.Data, s.Data) && row.Address == s.From.address() &&
		p.now().Sub(row.SeenAt.Time) < seenStep && s.Expires.Sub(row.ExpiresAt.Time).Abs() < seenStep
}

// addSession writes a new session, unless its user was removed meanwhile.
func (p *People) addSession(ctx context.Context, token string, s SavedSession) error {
	return p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if s.User != 0 {
			if _, err := tx.User(ctx, s.User); err != nil {
				return sqldb.IfNotFound(err, nil)
			}
		}
		if err := tx.DeleteExpiredSessions(ctx, p.stamp()); err != nil {
			return err
		}
		return tx.AddSession(ctx, peopledb.Session{
			Digest: digestOf(token), User: s.User, Generation: s.Generation, Data: s.Data,
			Address: s.From.address(), Agent: s.From.agent(),
			CreatedAt: p.stamp(), SeenAt: p.stamp(), ExpiresAt: sqldb.Time{Time: s.Expires},
		})
	})
}

// DeleteSession ends the session of a token.
func (p *People) DeleteSession(ctx context.Context, token string) error {
	return p.db.Tx(ctx, func(tx *peopledb.DB) error { return tx.EndToken(ctx, digestOf(token), p.stamp()) })
}

// Sessions lists the user's own sessions, the last seen first.
func (p *People) Sessions(ctx context.Context, a Actor) ([]Session, error) {
	if err := may(a, ownAccount); err != nil {
		return nil, err
	}
	rows, err := p.db.SessionsOf(ctx, a.User, p.stamp())
	return sqldb.Convert(rows, func(r peopledb.Session) Session {
		return Session{
			ID: SessionID(r.ID), Address: r.Address, Agent: r.Agent,
			CreatedAt: r.CreatedAt.Time, SeenAt: r.SeenAt.Time, ExpiresAt: r.ExpiresAt.Time,
		}
	}), err
}

// EndSession ends one of the user's own sessions; not found (session_not_found)
// when there is none.
func (p *People) EndSession(ctx context.Context, a Actor, id SessionID) error {
	if err := may(a, ownAccount); err != nil {
		return err
	}
	return p.db.Tx(ctx, func(tx *peopledb.DB) error {
		ended, err := tx.EndSession(ctx, a.User, int64(id), p.stamp())
		if err == nil && !ended {
			err = fault.NotFound("session_not_found", "This session has ended already; load the list again")
		}
		if err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionSessionEnd, Subject: a.ID, Detail: endedText(1)})
	})
}

// EndOtherSessions ends the user's own sessions but keep, and tells how many.
func (p *People) EndOtherSessions(ctx context.Context, a Actor, keep SessionID) (int64, error) {
	if err := may(a, ownAccount); err != nil {
		return 0, err
	}
	var ended int64
	err := p.db.Tx(ctx, func(tx *peopledb.DB) (err error) {
		if ended, err = tx.EndSessions(ctx, a.User, int64(keep), p.stamp()); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionSessionEndOthers, Subject: a.ID, Detail: endedText(ended)})
	})
	return ended, err
}

// endedText says for the audit log how many sessions an act has ended.
func endedText(n int64) string {
	if n == 1 {
		return "1 session ended"
	}
	return fmt.Sprintf("%d sessions ended", n)
}
