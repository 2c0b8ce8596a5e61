package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// read reads a part of the feed.
func (p *process) read(t *testing.T, after int64, limit int) Feed {
	t.Helper()
	return must.Get(p.List(t.Context(), program, after, limit))(t)
}

func ids(feed Feed) (list []string) {
	for _, e := range feed.Events {
		list = append(list, e.ID)
	}
	return list
}

func TestTheFeedIsReadInParts(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		want := p.add(t, "ana", "ben", "cleo")
		first := p.read(t, 0, 2)
		second := p.read(t, first.Cursor, 2)
		third := p.read(t, second.Cursor, 2)
		if got := append(ids(first), ids(second)...); !slices.Equal(got, want) || len(third.Events) > 0 || third.Cursor != 3 || third.Missed {
			t.Errorf("%v, then %+v, want %v", got, third, want)
		}
		for _, c := range []struct {
			after int64
			limit int
			code  string
		}{{4, 0, "cursor_unknown"}, {-1, 0, "invalid"}, {0, -1, "invalid"}, {0, MaxLimit + 1, "invalid"}} {
			_, err := p.List(t.Context(), operator, c.after, c.limit)
			wantError(t, err, c.code)
		}
		_, err := p.List(t.Context(), visitor, 0, 0)
		wantError(t, err, "not_allowed")
	})
}

func TestAnEventHasTheFormOfItsDescription(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		var id string
		must.Do(t, p.db.Tx(t.Context(), func(tx *addondb.DB) (err error) {
			id, err = p.Append(t.Context(), tx, Event{
				Type: MembershipActivated, UserID: "<7>", Membership: json.RawMessage(`{"version": 1}`), Purchase: json.RawMessage(`{"id": "pur_1"}`), Environment: "test",
			})
			return err
		}))
		want := `{"id":"` + id + `","type":"membership.activated","created_at":"2026-11-01T12:00:00Z","user_id":"<7>",` +
			`"membership":{"version":1},"previous":null,"purchase":{"id":"pur_1"},"environment":"test"}`
		if e := p.read(t, 0, 0).Events[0]; string(e.Body) != want || e.Type != MembershipActivated || !e.CreatedAt.Equal(noon) {
			t.Errorf("%+v\n%s\nwant\n%s", e, e.Body, want)
		}
		err := p.db.Tx(t.Context(), func(tx *addondb.DB) error {
			_, err := p.Append(t.Context(), tx, Event{Type: "membership.lost"})
			return err
		})
		if err == nil {
			t.Error("an unknown type was appended")
		}
	})
}

func TestAnEventOfATransactionThatFailsIsNotAppended(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		failed := errors.New("failed")
		err := p.db.Tx(t.Context(), func(tx *addondb.DB) error {
			_, err := p.Append(t.Context(), tx, renewed("ana"))
			return errors.Join(err, failed)
		})
		if want := p.add(t, "ben"); !errors.Is(err, failed) || !slices.Equal(ids(p.read(t, 0, 0)), want) || p.read(t, 0, 0).Cursor != 1 {
			t.Errorf("%v, %+v", err, p.read(t, 0, 0))
		}
	})
}

// Transactions that append at the same time commit in the order of their events: a reader who
// goes on from its last event finds all of them.
func TestNoEventAppearsBehindACursor(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		const writers, each = 6, 15
		var work sync.WaitGroup
		for w := range writers {
			work.Go(func() {
				for i := range each {
					err := p.db.Tx(t.Context(), func(tx *addondb.DB) error {
						_, err := p.Append(t.Context(), tx, renewed(fmt.Sprint(w, i)))
						if i%5 == 4 {
							err = errors.Join(err, context.Canceled) // a rollback
						}
						return err
					})
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			work.Wait()
		}()
		seen, cursor := 0, int64(0)
		for last := false; ; {
			feed := p.read(t, cursor, 7)
			if seen, cursor = seen+len(feed.Events), feed.Cursor; len(feed.Events) > 0 {
				continue
			}
			if last {
				break
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
		if want := writers * each * 4 / 5; seen != want || cursor != int64(want) {
			t.Errorf("saw %d events up to %d, want %d", seen, cursor, want)
		}
	})
}

// An event of a transaction that is open can't be passed: the next one waits for it.
func TestAnAppendWaitsForTheOneBefore(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		appended, commit := make(chan struct{}), make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			if err := p.db.Tx(t.Context(), func(tx *addondb.DB) error {
				_, err := p.Append(t.Context(), tx, renewed("slow"))
				close(appended)
				<-commit
				return err
			}); err != nil {
				t.Error(err)
			}
		})
		<-appended
		fast := make(chan struct{})
		work.Go(func() {
			defer close(fast)
			p.add(t, "fast")
		})
		if feed := p.read(t, 0, 0); len(feed.Events) > 0 {
			t.Errorf("%+v is read before its commit", feed)
		}
		select {
		case <-fast:
			t.Error("the second did not wait")
		default:
		}
		close(commit)
		work.Wait()
		var users []string
		for _, e := range p.read(t, 0, 0).Events {
			var body payload
			must.Do(t, json.Unmarshal(e.Body, &body))
			users = append(users, body.UserID)
		}
		if !slices.Equal(users, []string{"slow", "fast"}) {
			t.Errorf("%v", users)
		}
	})
}

func TestAWaitEndsWithTheNextEventOfAnyProcess(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		live := make(chan struct{}, 8)
		p.database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
		ctx, stop := context.WithCancel(t.Context())
		fed := make(chan struct{})
		go func() {
			defer close(fed)
			p.database.Feed(ctx)
		}()
		t.Cleanup(func() { stop(); <-fed })
		<-live
		got := make(chan Feed)
		go func() {
			feed, err := p.Wait(ctx, program, 0, 0, MaxWait)
			if err != nil {
				t.Error(err)
			}
			got <- feed
		}()
		want := p.again(t).add(t, "ana")
		if feed := <-got; !slices.Equal(ids(feed), want) {
			t.Errorf("%+v", feed)
		}
	})
}

func TestAWaitEndsWithoutEvents(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		if feed, err := p.Wait(t.Context(), program, 0, 0, 0); err != nil || len(feed.Events) > 0 {
			t.Errorf("after its time: %+v, %v", feed, err)
		}
		gone, leave := context.WithCancel(t.Context())
		go leave()
		if _, err := p.Wait(gone, program, 0, 0, MaxWait); !errors.Is(err, context.Canceled) {
			t.Errorf("when its caller left: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go stop()
		p.Run(ctx)
		begin := time.Now()
		if feed, err := p.Wait(t.Context(), program, 0, 0, MaxWait); err != nil || len(feed.Events) > 0 || time.Since(begin) >= MaxWait {
			t.Errorf("at the stop: %+v, %v", feed, err)
		}
	})
}

func TestOldEventsAreDeletedAndWhoMissedThemIsTold(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		p.webhook(t, r)
		p.add(t, "ana", "ben")
		p.run(t)
		p.Move(retention)
		p.add(t, "cleo")
		prune := func() {
			t.Helper()
			must.Do(t, p.Prune(t.Context()))
		}
		if prune(); len(p.read(t, 0, 0).Events) != 3 {
			t.Error("deleted too early")
		}
		p.Move(time.Second)
		prune()
		if feed := p.read(t, 1, 0); !feed.Missed || len(feed.Events) != 1 || feed.Cursor != 3 {
			t.Errorf("after 1: %+v", feed)
		}
		for _, after := range []int64{0, 2} {
			if feed := p.read(t, after, 0); feed.Missed || len(feed.Events) != 1 {
				t.Errorf("after %d: %+v", after, feed)
			}
		}
		p.run(t)
		p.Move(2 * retention)
		prune()
		if feed := p.read(t, 3, 0); feed.Missed || feed.Cursor != 3 {
			t.Errorf("after 3: %+v", feed)
		}
		if feed := p.read(t, 2, 0); !feed.Missed {
			t.Errorf("after 2: %+v", feed)
		}
	})
}
