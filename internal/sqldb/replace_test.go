package sqldb

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// A restore writes uploaded files while its transaction does nothing.
func TestAReplacementMayPauseForLongerThanTransactionsMayBeIdle(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	other := migrated(t, at)
	o := optionsOf(at, twoSteps())
	o.URL = changeURL(t, at.URL, func(u *url.URL) {
		q := u.Query()
		q.Set("options", "-cidle_in_transaction_session_timeout=100")
		u.RawQuery = q.Encode()
	})
	versions := must.Get(o.Latest())(t)
	_, err := Replace(t.Context(), o, Build{Versions: versions, Fill: func(Load) error {
		_, err := One(t.Context(), other.Queries(), Value[bool], `SELECT true FROM (SELECT pg_sleep(0.3)) paused`)
		return err
	}})
	if err != nil {
		t.Error(err)
	}
}
