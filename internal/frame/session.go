package frame

import (
	"context"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// How long a session lasts.
const (
	idleTime     = 12 * time.Hour
	longestTime  = 30 * 24 * time.Hour
	renewedAfter = time.Minute // so that reading pages does not write each time
	// anonymousTTL is for a session before sign-in: a flash, or a password that
	// was right and waits for the code.
	anonymousTTL = 15 * time.Minute
)

// What a session holds.
const (
	keyFlash   = "flash"
	keyWarning = "warning" // a flash that is one
	keyRenewed = "renewed" // Unix seconds
	// Of a user whose password was right, before the code.
	keyHalf       = "half"
	keyGeneration = "generation"
	keyNext       = "next"
)

const (
	sessionCookie = "session"
	// knownCookie is the cookie of a browser in which somebody has signed in before.
	// It outlives the session.
	knownCookie = "known"
)

func (f *Frame) newSessions() *scs.SessionManager {
	s := scs.New()
	s.Lifetime = longestTime
	s.Store = sessionStore{f: f}
	return s
}

// sessionStore keeps the sessions of scs as rows of people. Whom a session
// belongs to travels beside its data, in the request.
type sessionStore struct {
	scs.Store // nil: of its methods scs calls those with a context alone, which are below
	f         *Frame
}

// FindCtx loads a session, and tells the request whose it is.
func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	loaded, found, err := s.f.People.LoadSession(ctx, token)
	if err != nil || !found {
		return nil, false, err
	}
	if r := requestOf(ctx); r != nil {
		r.adopt(loaded)
	}
	return loaded.Data, true, nil
}

// CommitCtx saves a session for whom the request says.
func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, deadline time.Time) error {
	r := requestOf(ctx)
	saved := people.SavedSession{Data: data, Expires: deadline, From: r.From, User: r.as.ID, Generation: r.as.Generation}
	if idle := s.f.Now().Add(idleTime); idle.Before(deadline) {
		saved.Expires = idle
	}
	return s.f.People.SaveSession(ctx, token, saved)
}

// DeleteCtx ends a session.
func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.f.People.DeleteSession(ctx, token)
}

// adopt makes the request one of the user whose session was found.
func (r *Request) adopt(s people.LoadedSession) {
	r.User, r.as = s.User, s.User
	if s.User.ID != 0 {
		r.Actor, r.Session = s.User.Actor(r.From), s.ID
	}
}

// load makes a request of ours with the session that its cookie names.
func (f *Frame) load(w http.ResponseWriter, r *http.Request) (*Request, error) {
	req := &Request{frame: f, From: people.Origin{Addr: web.ClientAddr(w), Agent: r.UserAgent(), Known: f.cookieOf(w, r, knownCookie)}}
	req.Request = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
	token := ""
	if f.installed() {
		token = f.cookieOf(w, r, sessionCookie)
	}
	ctx, err := f.sessions.Load(req.Context(), token)
	if err != nil {
		return req, err
	}
	req.Request = req.WithContext(ctx)
	if renewed := time.Unix(f.sessions.GetInt64(ctx, keyRenewed), 0); req.User.ID != 0 && f.Now().Sub(renewed) >= renewedAfter {
		f.sessions.Put(ctx, keyRenewed, f.Now().Unix())
	}
	return req, nil
}

// save writes the session, if it changed, and its cookie.
func (f *Frame) save(w http.ResponseWriter, r *Request) error {
	ctx := r.Context()
	if !f.installed() {
		return nil
	}
	switch f.sessions.Status(ctx) {
	case scs.Modified:
		if r.as.ID == 0 {
			f.sessions.SetDeadline(ctx, f.Now().Add(anonymousTTL))
		}
		token, _, err := f.sessions.Commit(ctx)
		if err != nil && fault.IsUnavailable(err) && isRead(r.Request) && !r.begun {
			break // a page can be read while nothing can be written
		}
		if err != nil {
			return err
		}
		f.setCookie(w, r.Request, sessionCookie, token, 0)
		if r.begun && r.as.ID != 0 {
			if known := f.People.RememberBrowser(r.as, r.From.Known); known != "" {
				f.setCookie(w, r.Request, knownCookie, known, int(people.KnownLife.Seconds()))
			}
		}
	case scs.Destroyed:
		f.setCookie(w, r.Request, sessionCookie, "", -1)
	}
	w.Header().Set("Cache-Control", "no-store")
	return nil
}

// isRead reports whether a request changes nothing but what its session remembers of it.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// begin signs a user in: under a new token, so that one that was planted in the
// browser before is worth nothing.
func (f *Frame) begin(r *Request, u people.User) error {
	ctx := r.Context()
	if err := f.sessions.RenewToken(ctx); err != nil {
		return err
	}
	if err := f.sessions.Clear(ctx); err != nil {
		return err
	}
	f.sessions.SetDeadline(ctx, f.Now().Add(longestTime))
	f.sessions.Put(ctx, keyRenewed, f.Now().Unix())
	r.as, r.begun = u, true
	return nil
}
