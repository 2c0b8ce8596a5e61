package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/prepared"
)

// Calls of the app.
const (
	CallVerify     = "POST /api-addons/iap/verify"
	CallMembership = "GET /api-addons/iap/membership"
)

// Step is what became of a purchase or an act.
type Step struct {
	Purchase Purchase
	// Call is what the app called, Status and Answer what it was answered, without the signed
	// membership token.
	Call   string
	Status int
	Answer json.RawMessage
	// Events are those that the step caused, oldest first, as the site receives them.
	Events []events.Item
}

// processAfter is how long the tasks of a step's notifications wait. The step processes the
// notifications at once; the tasks do it when its process dies in between.
const processAfter = 10 * time.Second

// run is a step that is being done. After an error it does nothing more.
type run struct {
	*Service
	ctx     context.Context
	actor   people.Actor
	selling iap.Selling
	since   int64 // the last event before
	sent    []play.Notification
	token   string
	user    string
	err     error
}

// begin begins a step.
func (s *Service) begin(ctx context.Context, actor people.Actor, selling iap.Selling) *run {
	r := &run{Service: s, ctx: ctx, actor: actor, selling: selling}
	_, r.since, r.err = s.db.EventRange(ctx)
	return r
}

// change changes the store.
func (r *run) change(do func(*addondb.DB, *state) error) {
	if r.err == nil {
		r.sent, r.err = r.Service.change(r.ctx, r.selling, processAfter, do)
	}
}

// process has the notifications of the step processed, in their order, and then the days that have ended: the store sends
// nothing about those.
func (r *run) process() {
	for _, n := range r.sent {
		if r.err == nil {
			r.err = r.Members.Process(r.ctx, n)
		}
	}
	if r.err == nil {
		r.err = r.endDays()
	}
}

// endDays has each purchase for some days read again whose days have ended on the store's clock.
func (r *run) endDays() error {
	st, _, err := r.read(r.ctx, r.selling)
	if err != nil {
		return err
	}
	for _, p := range st.store.Purchases() {
		if !p.OneTime {
			continue
		}
		known, err := r.Members.Lookup(r.ctx, r.db, p.Token)
		if err == nil && known.Access && !known.ExpiresAt.IsZero() && !known.ExpiresAt.After(st.store.Now()) {
			err = r.Members.Process(r.ctx, play.Notification{Token: p.Token})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verify has the purchase verified as the app does.
func (r *run) verify(product string) (step Step, err error) {
	if r.err != nil {
		return Step{}, r.err
	}
	done, err := r.Members.Verify(r.ctx, r.user, r.token, product)
	if err != nil {
		return Step{}, err
	}
	status, body := done.Answer()
	step = Step{Call: CallVerify, Status: status}
	step.Answer, err = countersign.EncodeJSON(body)
	return step, err
}

// membershipStep ends a step after which the app asks for the membership.
func (r *run) membershipStep() (Step, error) {
	if r.err != nil {
		return Step{}, r.err
	}
	read, err := r.Members.Membership(r.ctx, r.user)
	if err != nil {
		return Step{}, err
	}
	text, err := countersign.EncodeJSON(read.Membership)
	if err != nil {
		return Step{}, err
	}
	return r.finish(Step{Call: CallMembership, Status: 200, Answer: prepared.Success("membership", string(text))})
}

// finish adds the purchase and the events.
func (r *run) finish(step Step) (_ Step, err error) {
	if r.err != nil {
		return Step{}, r.err
	}
	if step.Purchase, err = r.Purchase(r.ctx, r.actor, refOf(r.token)); err != nil {
		return Step{}, err
	}
	if step.Events, err = r.caused(); err != nil {
		return Step{}, err
	}
	return step, r.keepStep(step)
}

// caused lists the events since the step began that are about its users, and simulated.
func (r *run) caused() ([]events.Item, error) {
	users := []string{r.user}
	for _, n := range r.sent {
		known, err := r.Members.Lookup(r.ctx, r.db, n.Token)
		if err != nil {
			return nil, err
		}
		users = append(users, known.User)
	}
	feed, err := r.Events.List(r.ctx, r.actor, r.since, events.MaxLimit)
	if err != nil {
		return nil, err
	}
	caused := []events.Item{}
	for _, e := range feed.Events {
		var about struct {
			User        string `json:"user_id"`
			Environment string `json:"environment"`
		}
		if err := json.Unmarshal(e.Body, &about); err != nil {
			return nil, fmt.Errorf("simulator: an event: %w", err)
		}
		if about.Environment == string(entitle.Simulated) && slices.Contains(users, about.User) {
			caused = append(caused, e)
		}
	}
	return caused, nil
}
