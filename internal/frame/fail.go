package frame

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/web"
)

// fail turns an error into a page, the only function that does. The cause goes
// to the log when the fault is ours, and nowhere else.
func (f *Frame) fail(w http.ResponseWriter, r *Request, err error) error {
	shown := public(err)
	status := shown.Kind.Status()
	if status >= http.StatusInternalServerError && !(errors.Is(err, context.Canceled) && r.Context().Err() != nil) {
		f.Log.LogAttrs(r.Context(), slog.LevelError, "page failed", slog.String("request_id", web.RequestID(w)),
			slog.String("method", r.Method), slog.String("route", r.Pattern), slog.Int("status", status), slog.Any("error", err))
	}
	if wantsJSON(r.Request) {
		return shown
	}
	return f.write(w, r, Page{Title: http.StatusText(status), Status: status, Body: words(shown.Message)})
}

// public is what of an error may be shown.
func public(err error) *countersign.Error {
	ours, ok := errors.AsType[*countersign.Error](err)
	if !ok || ours.Kind.Status() == http.StatusInternalServerError {
		return &countersign.Error{Code: countersign.CodeInternal, Message: countersign.MsgInternal}
	}
	return ours
}
