package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/countersign/countersign"
)

// logFailure writes one line for each fault. A service that is not available is a state rather than a fault of the
// request: it is logged once, and again after a minute.
func (e *Edge) logFailure(a *response, r *http.Request, shown *countersign.Error, err error) {
	left := a.clientGone(r, err)
	a.gone = left && a.status == 0
	if left {
		return
	}
	status := shown.Kind.Status()
	if e.log == nil || status < http.StatusInternalServerError {
		return
	}
	a.logged = true
	level, message, facts := slog.LevelError, "request failed", append(a.facts(status), slog.Any("error", err))
	if status == http.StatusServiceUnavailable {
		omitted, shouldLog := e.outages.shouldLog(outageOf(shown, err), e.now())
		if !shouldLog {
			return
		}
		level, message = slog.LevelWarn, "requests get 503"
		if omitted > 0 {
			facts = append(facts, slog.Int("not_told_before", omitted))
		}
	}
	e.log.LogAttrs(r.Context(), level, message, facts...)
}

// clientGone reports whether err only says that the client has left. net/http also ends the context of a request when a
// deadline of its own has passed, while the client still waits.
func (a *response) clientGone(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && r.Context().Err() != nil && !a.outOfTime()
}

// outOfTime reports whether a deadline of the server has ended the request.
func (a *response) outOfTime() bool {
	if a.conn == nil {
		return false
	}
	if a.r.ProtoMajor < 2 {
		return a.conn.late.Load()
	}
	srv, ok := a.r.Context().Value(http.ServerContextKey).(*http.Server)
	return ok && srv.WriteTimeout > 0 && a.edge.now().Sub(a.start) >= srv.WriteTimeout
}

// facts names the request in a line of the error log. The route stands for the URL, which may hold a key.
func (a *response) facts(status int) []slog.Attr {
	return []slog.Attr{
		slog.String("request_id", a.id),
		slog.String("method", a.r.Method),
		slog.String("route", routeLabel(a.r.Pattern)),
		slog.Int("status", status),
		slog.String("client", a.addr.String()),
	}
}

// logAgainAfter is the interval at which a lasting outage is logged again.
const logAgainAfter = time.Minute

// outageOf returns the name of the outage behind a response. A full disk differs from an unreachable database, although
// the public message is the same.
func outageOf(shown *countersign.Error, err error) string {
	for apiErr := (*countersign.Error)(nil); errors.As(err, &apiErr); err = apiErr.Cause {
		shown = apiErr
	}
	return shown.Code + " " + shown.Message
}

// outages remembers by their names which outages were told, and when. There are as many as there are sentences about
// them in the program.
type outages struct {
	mu     sync.Mutex
	logged map[string]outage
}

type outage struct {
	at      time.Time
	omitted int // answers since then
}

// shouldLog reports whether to log a response, and how many were omitted in the minute before.
func (o *outages) shouldLog(name string, now time.Time) (omitted int, shouldLog bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, before := o.logged[name]
	age := now.Sub(last.at)
	if before && age < logAgainAfter {
		last.omitted++
		o.logged[name] = last
		return 0, false
	}
	if o.logged == nil {
		o.logged = map[string]outage{}
	}
	o.logged[name] = outage{at: now}
	if age >= 2*logAgainAfter {
		return 0, true // those were of an earlier outage
	}
	return last.omitted, true
}
