package addon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/sqldb"
)

// A server delivers what another program appended.
func TestARunningAddonDeliversEvents(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		type received struct {
			header http.Header
			body   string
		}
		got := make(chan received, 1)
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got <- received{r.Header, string(body)}
		}))
		defer s.Close()
		f.run(t)
		other := f.again(t)
		w, secret, err := other.Events.AddWebhook(t.Context(), operator, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		id, err := other.Events.Ping(t.Context(), operator, w.ID)
		if err != nil {
			t.Fatal(err)
		}
		one := <-got
		v := countersign.WebhookVerifier{Secrets: []string{string(secret)}, Now: f.clock.Now}
		if err := v.Verify(one.header, []byte(one.body)); err != nil || !strings.Contains(one.body, id) || one.header.Get("User-Agent") != "Countersign/1.2.3" {
			t.Errorf("%+v, %v", one, err)
		}
	})
}

func TestOldJobsAreDeleted(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		err := f.database.Tx(t.Context(), func(tx sqldb.Queries) error {
			if _, err := jobs.Add(t.Context(), tx, "test", 0, nil, f.now()); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE jobs SET state = 'done', ended_at = $1`, sqldb.Time{Time: f.now()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		left := func() int {
			t.Helper()
			if err := f.pruneJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
			list, err := jobs.List(t.Context(), f.database.Queries(), "test")
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		if f.clock.move(jobsKept - time.Second); left() != 1 {
			t.Error("deleted too early")
		}
		if f.clock.move(time.Second); left() != 0 {
			t.Error("not deleted")
		}
	})
}

// A program with API credentials reads events, and manages no webhooks.
func TestAProgramReadsEvents(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if _, err := f.Events.List(t.Context(), program, 0, 0); err != nil {
			t.Error(err)
		}
		_, err := f.Events.Webhooks(t.Context(), program)
		wantError(t, err, "not_allowed")
		publishable := program
		publishable.Secret = false
		_, err = f.Events.Wait(t.Context(), publishable, 0, 0, events.MaxWait)
		wantError(t, err, "not_allowed")
	})
}
