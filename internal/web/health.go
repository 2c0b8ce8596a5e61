package web

import (
	"context"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// readyTimeout is how long a readiness check may take.
const readyTimeout = 2 * time.Second

var healthy = []byte(`{"status":"success"}`)

// Healthz answers that the process is alive.
func Healthz() Handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		send(w, http.StatusOK, healthy)
		return nil
	}
}

// Readyz answers whether the service can do its work: 503 when ready returns an error, which goes to the log.
func Readyz(ready func(context.Context) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := ready(ctx); err != nil {
			return notReady(err)
		}
		send(w, http.StatusOK, healthy)
		return nil
	}
}

// notReady is the public error of a service that can't do its work. Its message names nothing of this machine.
func notReady(err error) error {
	switch {
	case fault.HasCode(err, countersign.CodeMigrating):
		return fault.WithMessage(fault.Of(fault.Public(err)), "The database is being migrated to this version")
	case fault.HasCode(err, countersign.CodeMigrationFailed):
		return fault.WithMessage(fault.Of(fault.Public(err)), "The database can't be migrated to this version; the log of the server says why")
	}
	return fault.WithCause(fault.Unavailable(countersign.CodeUnavailable, countersign.MsgUnavailable), err)
}
