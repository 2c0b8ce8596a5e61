package people

import (
	"context"
	"time"
)

// SessionID names a session. It is no secret.
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
	// Data is the face's own.
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

// LoadSession finds the session of a token; found is false when there is none,
// or when it has expired or was ended.
func (p *People) LoadSession(ctx context.Context, token string) (s LoadedSession, found bool, err error) {
	return LoadedSession{}, false, errNotBuilt
}

// SaveSession writes the session of a token. One that was ended meanwhile stays
// ended, without an error.
func (p *People) SaveSession(ctx context.Context, token string, s SavedSession) error {
	return errNotBuilt
}

// DeleteSession ends the session of a token.
func (p *People) DeleteSession(ctx context.Context, token string) error { return errNotBuilt }

// Sessions lists the user's own sessions, the last seen first.
func (p *People) Sessions(ctx context.Context, a Actor) ([]Session, error) { return nil, errNotBuilt }

// EndSession ends one of the user's own sessions; not found (session_not_found)
// when there is none.
func (p *People) EndSession(ctx context.Context, a Actor, id SessionID) error { return errNotBuilt }

// EndOtherSessions ends the user's own sessions but keep, and tells how many.
func (p *People) EndOtherSessions(ctx context.Context, a Actor, keep SessionID) (int64, error) {
	return 0, errNotBuilt
}
