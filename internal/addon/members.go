package addon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/play"
)

const (
	// memberLease is how long after the death of its process a task is done by another one.
	memberLease = 10 * time.Second
	// playRate is how many calls a second the app's store gets at most.
	playRate = 40
)

// openMembers sets up the memberships: where they ask for purchases, and what they leave to
// the feed of events and to the queue.
func (a *Addon) openMembers() {
	a.Members = membership.New(membership.Options{
		DB: a.db, Guard: a.guard, Selling: a.IAP.Selling, Open: a.openStore, Append: a.appendEvent, Put: a.putTask, Postpone: a.postpone, Log: a.log,
		Rename: func(ctx context.Context, tx *addondb.DB, user, to string) error {
			return a.Simulator.Rename(ctx, tx, user, to)
		},
	})
	a.database.Watch(a.Members.Watcher())
	a.IAP.WatchRanks(a.Members.RulesChanged)
	a.Simulator = simulator.New(simulator.Options{
		DB: a.db, Guard: a.guard, Selling: a.IAP.Selling, Members: a.Members, Events: a.Events, Put: a.putTask, Log: a.log,
	})
	a.Settings.WatchPublished(func(ctx context.Context, tx *addondb.DB, before, after iap.Values) error {
		return errors.Join(a.Members.Published(ctx, tx, before, after), a.Simulator.Published(ctx, tx, before, after))
	})
	works := a.Members.Works()
	works[simulator.KindTick] = membership.Work{Do: a.Simulator.Tick, Retries: works[membership.KindSweep].Retries}
	for kind, work := range works {
		a.queue.Handle(kind, jobs.Kind{
			Work:    func(ctx context.Context, r *jobs.Run) (any, error) { return nil, a.doTask(ctx, r, work) },
			Workers: work.Workers, Lease: memberLease, Retries: work.Retries, Forever: true,
		})
	}
}

func (a *Addon) appendEvent(ctx context.Context, tx *addondb.DB, e membership.Event) error {
	_, err := a.Events.Append(ctx, tx, events.Event{
		Type: events.Type(e.Type), UserID: e.UserID, Membership: e.Membership, Previous: e.Previous, Purchase: e.Purchase, Environment: string(e.Environment),
	})
	return err
}

func (a *Addon) putTask(ctx context.Context, tx *addondb.DB, t jobs.Task) error {
	return jobs.Put(ctx, tx.Queries, t, a.now())
}

func (a *Addon) postpone(ctx context.Context, tx *addondb.DB, kind string, until time.Time) error {
	return jobs.Postpone(ctx, tx.Queries, kind, a.now(), until)
}

// doTask does a task of the memberships, and puts it again if it asks for that.
func (a *Addon) doTask(ctx context.Context, r *jobs.Run, work membership.Work) error {
	again, err := work.Do(ctx, r.Payload)
	if err != nil || again.IsZero() {
		return err
	}
	return a.db.Tx(ctx, func(tx *addondb.DB) error {
		return jobs.Put(ctx, tx.Queries, jobs.Task{Kind: r.Kind, Key: r.Key, Payload: json.RawMessage(r.Payload), Due: again}, a.now())
	})
}

// startMembers puts the tasks that repeat, as soon as the database answers.
func (a *Addon) startMembers(ctx context.Context) {
	for {
		err := errors.Join(a.Members.Start(ctx), a.Simulator.Start(ctx))
		if err == nil || ctx.Err() != nil {
			return
		}
		if !fault.IsUnavailable(err) {
			a.log.Error("the tasks of memberships could not be begun", "cause", err)
		}
		if !group.Sleep(ctx, time.Second, nil) {
			return
		}
	}
}

// plays keeps the clients of the app's store, one for each application, while the service account stays the same.
type plays struct {
	// url replaces the addresses of Google, "" for those.
	url string
	now func() time.Time

	mu      sync.Mutex
	account []byte
	clients map[string]*play.Client // by application
}

// openStore returns the store for settings: Google Play, or in test mode the simulated store.
func (a *Addon) openStore(s iap.Selling) (membership.Store, error) {
	if s.Simulated {
		client, err := a.Simulator.Client(s)
		return playStore{client, a.Simulator.Now}, err
	}
	client, err := a.plays.open(s)
	return playStore{client, func(context.Context) (time.Time, error) { return a.now(), nil }}, err
}

// open returns the client for settings.
func (p *plays) open(s iap.Selling) (*play.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bytes.Equal(p.account, s.ServiceAccount) {
		p.clients = nil
	}
	if client := p.clients[s.Application]; client != nil {
		return client, nil
	}
	o := play.Options{ServiceAccount: s.ServiceAccount, Package: s.Application, URL: p.url, Now: p.now, Rate: playRate}
	if p.url != "" {
		o.Rate = 0
	}
	client, err := play.Open(o)
	if err != nil {
		return nil, err
	}
	if p.clients == nil {
		p.clients, p.account = map[string]*play.Client{}, s.ServiceAccount
	}
	p.clients[s.Application] = client
	return client, nil
}
