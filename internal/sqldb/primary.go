package sqldb

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The prober waits probeFirst after the loss of the primary, and then twice as long
// after each attempt, up to probeLast.
const (
	probeFirst = 50 * time.Millisecond
	probeLast  = time.Second
)

// primary is the server of PostgreSQL that takes writes, one of the hosts that the URL
// names. While it can't be reached only the prober tries to: each request would
// otherwise wait for its own attempt, and all of them together would keep the standbys
// busy.
type primary struct {
	config *pgx.ConnConfig
	hosts  []*pgx.ConnConfig
	log    *slog.Logger
	// forget closes idle connections that were made before, abandon those of commits that
	// nobody waits for.
	forget, abandon func()
	// host is the one that was the primary last, nil at first.
	host atomic.Pointer[pgx.ConnConfig]
	// generation grows with each call of leave.
	generation atomic.Int64
	// outage is the reason why no primary can be reached, nil when one can.
	outage atomic.Pointer[outage]
	direct atomic.Bool // no pooler was found

	mu      sync.Mutex
	life    context.Context // of the prober
	end     context.CancelFunc
	probing sync.WaitGroup
}

type outage struct {
	err   error
	since time.Time
}

func newPrimary(config *pgx.ConnConfig, log *slog.Logger) *primary {
	p := &primary{config: config, hosts: hostsOf(config), log: log, forget: func() {}, abandon: func() {}}
	if len(p.hosts) == 1 {
		p.host.Store(p.hosts[0])
	}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// err is nil unless it is known that no primary can be reached.
func (p *primary) err() error {
	if o := p.outage.Load(); o != nil {
		return o.err
	}
	return nil
}

// downFor reports whether a primary can be reached as far as is known, and else since when none can.
func (p *primary) downFor() (reachable bool, d time.Duration) {
	if o := p.outage.Load(); o != nil {
		return false, time.Since(o.since)
	}
	return true, 0
}

// connect calls make with the configuration of the primary's host, and looks for the
// primary first where it is not known. A failure that means that it is gone starts the
// prober.
func (p *primary) connect(ctx context.Context, make func(context.Context, *pgx.ConnConfig) error) error {
	if err := p.err(); err != nil {
		return err
	}
	start, generation := time.Now(), p.generation.Load()
	host, err := p.host.Load(), error(nil)
	if host == nil {
		host, err = p.find(ctx)
	}
	if err == nil {
		err = make(ctx, host.Copy())
	}
	// What failed late says nothing of a primary that was found meanwhile.
	if err != nil && generation == p.generation.Load() && meansGone(ctx, err, time.Since(start)) {
		p.lost(err)
	}
	return err
}

// dial opens a connection that belongs to no pool.
func (p *primary) dial(ctx context.Context) (conn *pgx.Conn, err error) {
	err = p.connect(ctx, func(ctx context.Context, config *pgx.ConnConfig) error {
		conn, err = pgx.ConnectConfig(ctx, config)
		return err
	})
	return conn, err
}

// find tries all hosts at once and returns the first that is the primary.
func (p *primary) find(ctx context.Context) (*pgx.ConnConfig, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		host *pgx.ConnConfig
		err  error
	}
	results := make(chan result, len(p.hosts))
	for _, host := range p.hosts {
		go func() {
			results <- result{host, group.Contain(p.log, "search for the primary", func() error { return try(ctx, host) })}
		}()
	}
	var errs []error
	for range p.hosts {
		r := <-results
		if r.err == nil {
			p.host.Store(r.host)
			return r.host, nil
		}
		errs = append(errs, r.err)
	}
	return nil, errors.Join(errs...)
}

// try connects to one host to see whether it is the primary.
func try(ctx context.Context, host *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, host.Copy())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// meansGone reports whether a failed attempt to connect means that others would fail
// too. An attempt that had too little time proves nothing. Nor does a server that has
// no free connection or refuses the sign-in (class 28) but still serves open
// connections.
func meansGone(ctx context.Context, err error, took time.Duration) bool {
	if ctx.Err() != nil && took < connectTimeout/2 {
		return false
	}
	if errors.Is(context.Cause(ctx), context.Canceled) || fault.HasCode(err, CodePooler) {
		return false
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || (!strings.HasPrefix(pg.Code, "53") && !strings.HasPrefix(pg.Code, "28"))
}

// lost notes that the primary can't be reached, and starts the prober, once.
func (p *primary) lost(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.Load() != nil || p.life.Err() != nil {
		return
	}
	p.outage.Store(&outage{(&shared{primary: p}).wrap(cause), time.Now()})
	p.log.Warn("the database can't be reached; requests get 503 until it can", "cause", cause)
	p.probing.Go(func() { _ = group.Contain(p.log, "search for the primary", p.probe) })
}

// probe looks for the primary until it is found or the database is closed.
func (p *primary) probe() error {
	for wait := probeFirst; group.Sleep(p.life, wait, nil); wait = min(2*wait, probeLast) {
		ctx, cancel := context.WithTimeout(p.life, 2*connectTimeout)
		_, err := p.find(ctx)
		cancel()
		if err == nil {
			p.found()
			return nil
		}
	}
	return p.life.Err()
}

// found lets requests pass again, on new connections.
func (p *primary) found() {
	p.leave()
	p.abandon()
	p.outage.Store(nil)
	p.log.Info("the database can be reached again")
}

// leave makes that no connection is used again that is open now: each that broke
// would fail a query.
func (p *primary) leave() {
	p.generation.Add(1)
	p.forget()
}

// demoted is called when a server refused a write because it takes none any more.
func (p *primary) demoted() {
	if p == nil {
		return
	}
	if len(p.hosts) > 1 {
		p.host.Store(nil) // it may be another one now
	}
	p.leave()
}

// close ends the prober.
func (p *primary) close() {
	p.mu.Lock() // lost, which starts it, looks at life
	p.end()
	p.mu.Unlock()
	p.probing.Wait()
}
