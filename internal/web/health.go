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
			if fault.HasCode(err, countersign.CodeMigrating) {
				return fault.Public(err)
			}
			return fault.WithCause(fault.Unavailable(countersign.CodeUnavailable, countersign.MsgUnavailable), err)
		}
		send(w, http.StatusOK, healthy)
		return nil
	}
}
