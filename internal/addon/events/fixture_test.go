package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

var (
	operator = people.Operator("tester")
	program  = people.Actor{Kind: people.KindKey, ID: "1 First pair", FrontEnd: people.FrontEndAPI, Secret: true}
	visitor  = people.Actor{Kind: people.KindVisitor, FrontEnd: people.FrontEndAPI}
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
)

// process is the events of an addon as one process has them.
type process struct {
	*Service
	*dbtest.Clock
	place    dbtest.DB
	database *sqldb.DB
	queue    *jobs.Queue
	log      *bytes.Buffer
}

// open opens the events in a place. It creates the key file unless the place has one.
func open(ctx context.Context, at dbtest.DB, now func() time.Time) (*process, error) {
	db, err := sqldb.Open(ctx, sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "addon.db"), Schemas: addondb.Schemas})
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	location := &keyfile.Location{Service: keyfile.Addon, Dir: at.Dir}
	box, err := location.Open(ctx, db.Queries())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	p := &process{place: at, database: db, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(p.log, nil))
	p.queue = jobs.New(db, now, log)
	control := &access.Control{Gate: instance.NewGate(keyfile.Addon), Now: now}
	control.Open(box)
	control.SetState(access.StateReady)
	var watcher sqldb.Watcher
	p.Service, watcher = New(addondb.New(db), Options{
		Access: control, Queue: p.queue, Sender: hook.New(loopback, "1.2.3", now), AllowPrivate: loopback, Log: log,
		Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{IsNotFound: true}
		},
	})
	db.Watch(watcher)
	return p, nil
}

func (p *process) close() error {
	p.sender.Close()
	return p.database.Close()
}

func opened(t *testing.T, at dbtest.DB, c *dbtest.Clock) *process {
	t.Helper()
	p := must.Get(open(t.Context(), at, c.Now))(t)
	p.Clock = c
	t.Cleanup(func() {
		expect.NoError(t, p.close())
	})
	return p
}

// again opens the same events once more, as another process would.
func (p *process) again(t *testing.T) *process {
	t.Helper()
	return opened(t, p.place, p.Clock)
}

// empty is an addon's database with its key file.
var empty = dbtest.NewTemplate(func(at dbtest.DB) error {
	p, err := open(context.Background(), at, func() time.Time { return noon })
	if err != nil {
		return err
	}
	return p.close()
})

func engines(t *testing.T, fn func(t *testing.T, p *process)) {
	t.Helper()
	t.Parallel()
	empty.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, opened(t, at, dbtest.NewClock(noon))) })
}

// renewed is an event of a user.
func renewed(user string) Event {
	return Event{Type: MembershipRenewed, UserID: user, Membership: json.RawMessage(`{"version": 2}`), Environment: "production"}
}

// append adds events of users in transactions of their own and returns their ids.
func (p *process) add(t *testing.T, users ...string) (ids []string) {
	t.Helper()
	for _, user := range users {
		must.Do(t, p.db.Tx(t.Context(), func(tx *addondb.DB) error {
			id, err := p.Append(t.Context(), tx, renewed(user))
			ids = append(ids, id)
			return err
		}))
	}
	return ids
}

// received is a webhook that a receiver got.
type received struct {
	id, signature string
	header        http.Header
	body          string
}

// receiver is an endpoint of the site. It answers with status.
type receiver struct {
	url    string
	mu     sync.Mutex
	status int
	header http.Header
	got    []received
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent, header: http.Header{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL + "/hooks"
	return r
}

// ServeHTTP notes a webhook.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, received{q.Header.Get("Webhook-Id"), q.Header.Get("Webhook-Signature"), q.Header, string(body)})
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.status)
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// take returns what was received since the last call.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// webhook adds a webhook for a receiver.
func (p *process) webhook(t *testing.T, r *receiver, wanted ...Type) (Webhook, SecretText) {
	t.Helper()
	w, secret, err := p.AddWebhook(t.Context(), operator, r.url, wanted)
	must.Do(t, err)
	return w, secret
}

// deliver runs all jobs that are due.
func (p *process) run(t *testing.T) {
	t.Helper()
	for {
		ran := must.Get(p.queue.RunNext(t.Context()))(t)
		if !ran {
			return
		}
	}
}

// only returns the single delivery of a webhook.
func (p *process) only(t *testing.T, webhook int64) Delivery {
	t.Helper()
	list, err := p.Deliveries(t.Context(), operator, webhook, DeliveryFilter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// state reads a webhook.
func (p *process) state(t *testing.T, id int64) Webhook {
	t.Helper()
	return must.Get(p.Webhook(t.Context(), operator, id))(t)
}

// audits lists the audit log, oldest first: actor, action, subject, detail.
func (p *process) audits(t *testing.T) []string {
	t.Helper()
	lines := must.Get(p.db.Audits(t.Context(), peopledb.AuditFilter{Limit: 500}))(t)
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[len(lines)-1-i] = l.Actor + " " + string(l.Action) + " " + l.Subject + ": " + l.Detail
	}
	return texts
}

// wantError wants an error with a code, or none for "".
func wantError(t *testing.T, err error, code string) {
	t.Helper()
	var apiErr *countersign.Error
	if errors.As(err, &apiErr) {
		if apiErr.Code != code {
			t.Errorf("error %v, want the code %q", err, code)
		}
		return
	}
	if err != nil || code != "" {
		t.Errorf("error %v, want the code %q", err, code)
	}
}

// This test binary is also the process that is killed; see kill_test.go.
func TestMain(m *testing.M) { dbtest.Main(m, beKilled) }
