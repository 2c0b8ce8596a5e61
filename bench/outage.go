package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	// outageCallers are all that verify a purchase while Play hangs, each of outageBuyers one that is paid. The rest are
	// made-up tokens of outageAccounts.
	outageCallers, outageBuyers, outageAccounts = 900, 50, 30
	// playEvery is the time between two responses of Play to the addon: 40 a second.
	playEvery = 25 * time.Millisecond
	// hangsOn is how long Play hangs after the last caller was answered.
	hangsOn = 15 * time.Second
	// outageVerified is how long after Play's return a buyer waits at most.
	outageVerified = 10 * time.Second
)

// outage is what callers notice of a Play that hangs.
type outage struct {
	Engine string `json:"engine"`
	// Answers counts the responses to the callers, by their status.
	Answers map[int]int `json:"answers"`
	// Longest is how long a caller waited at most.
	Longest time.Duration `json:"longest_ns"`
	// Unqueued is the first buyer whose verification was not queued, "" for none.
	Unqueued string `json:"unqueued,omitempty"`
	// Verified are the times from Play's return to the memberships of the buyers, in their order.
	Verified []time.Duration `json:"verified_ns"`
	// Anonymous is the addon's own memory at the end of the outage, in bytes.
	Anonymous int64 `json:"anonymous_bytes"`
	// Unacknowledged is how many of the purchases the simulated Play would refund.
	Unacknowledged int `json:"unacknowledged"`
}

// hangingPlay is a simulated Play that responds to one call after the other, or to none.
type hangingPlay struct {
	http.Handler
	hangs atomic.Bool
	mu    sync.Mutex
	next  time.Time // of the next response
}

// ServeHTTP implements [http.Handler]. Calls that hang do so until the client ends them, also after Play's return.
func (p *hangingPlay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.hangs.Load() {
		_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is noticed only then
		<-r.Context().Done()
		return
	}
	program.Pause(r.Context(), time.Until(p.turn()))
	p.Handler.ServeHTTP(w, r)
}

// turn is when a call gets its response.
func (p *hangingPlay) turn() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(playEvery)
	return p.next
}

// measureOutage has many callers verify purchases while Play hangs, and then waits for the buyers among them.
func (s *shop) measureOutage(ctx context.Context) (outage, error) {
	o := outage{Engine: s.settings.engine(), Answers: map[int]int{}}
	store, err := playfake.New(playfake.Options{Start: time.Now().UTC()})
	if err != nil {
		return o, err
	}
	hanging := &hangingPlay{Handler: store.Handler()}
	play, err := serveLocally(hanging)
	if err != nil {
		return o, err
	}
	defer play.Close()
	server, pair, err := s.serveSelling(ctx, store, "http://"+play.Addr)
	if err != nil {
		return o, err
	}
	defer server.stop()
	app := &outageApp{address: server.address, pair: pair, run: rand.Text(), tokens: map[string]string{}}
	for i := range outageBuyers + 1 {
		if app.tokens[app.buyer(i)], err = store.Buy(playfake.BuyOptions{ProductID: verifyProduct}); err != nil {
			return o, err
		}
	}
	if _, err := verifyOne(ctx, http.DefaultClient, app.address, pair, app.buyer(outageBuyers), app.tokens[app.buyer(outageBuyers)]); err != nil {
		return o, err // as a rule, the addon has a token of the service account when an outage begins
	}
	hanging.hangs.Store(true)
	if err := o.call(ctx, app); err != nil {
		return o, err
	}
	program.Pause(ctx, hangsOn)
	used, err := usageOf(server.command.Process.Pid)
	if err != nil {
		return o, err
	}
	o.Anonymous = used.anonymous
	hanging.hangs.Store(false)
	if err := o.await(ctx, app); err != nil {
		return o, err
	}
	for _, p := range store.Purchases() {
		if !p.Acknowledged {
			o.Unacknowledged++
		}
	}
	return o, nil
}

// outageApp is the app of all users.
type outageApp struct {
	address, run string
	pair         credential.Values
	tokens       map[string]string // of the buyers
}

func (a *outageApp) buyer(i int) string { return fmt.Sprintf("buyer-%s-%d", a.run, i) }

// send sends a request of a user.
func (a *outageApp) send(ctx context.Context, method, path, user, body string) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, a.address+"/api-addons/iap/"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header = appHeaders(a.pair, user)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// call has all callers verify a purchase at once.
func (o *outage) call(ctx context.Context, app *outageApp) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range outageCallers {
		user := app.buyer(i)
		token, buys := app.tokens[user]
		if i >= outageBuyers {
			user, token, buys = fmt.Sprintf("account-%s-%d", app.run, i%outageAccounts), rand.Text(), false
		}
		all.Go(func() {
			began := time.Now()
			status, text, err := app.send(ctx, http.MethodPost, "verify", user, `{"platform":"store","purchase_token":"`+token+`"}`)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			o.Answers[status]++
			o.Longest = max(o.Longest, time.Since(began))
			if buys && !bytes.Contains(text, []byte(`"result":"queued"`)) {
				o.Unqueued = fmt.Sprintf("%d: %.300s", status, text)
			}
		})
	}
	all.Wait()
	return failed
}

// await notes when the buyers are members.
func (o *outage) await(ctx context.Context, app *outageApp) error {
	waiting := make([]string, outageBuyers)
	for i := range waiting {
		waiting[i] = app.buyer(i)
	}
	for began := time.Now(); len(waiting) > 0 && time.Since(began) < time.Minute; program.Pause(ctx, 50*time.Millisecond) {
		still := waiting[:0]
		for _, user := range waiting {
			_, text, err := app.send(ctx, http.MethodGet, "membership", user, "")
			if err != nil {
				return err
			}
			if !bytes.Contains(text, []byte(`"active":true`)) {
				still = append(still, user)
				continue
			}
			o.Verified = append(o.Verified, time.Since(began))
		}
		waiting = still
	}
	program.Pause(ctx, 2*time.Second) // the last ones are acknowledged
	return ctx.Err()
}

func (o outage) print(out io.Writer) {
	answers := []string{}
	for _, status := range slices.Sorted(maps.Keys(o.Answers)) {
		answers = append(answers, fmt.Sprintf("%d of %d", o.Answers[status], status))
	}
	last := time.Duration(0)
	if len(o.Verified) > 0 {
		last = o.Verified[len(o.Verified)-1]
	}
	fmt.Fprintf(out, "\n%s, %d callers while Play hangs, %d of them buyers beside %d accounts with made-up tokens: responses %s, the last after %.1f s; the addon's memory %.1f MB; %d buyers verified, the last %.1f s after Play's return, at %d calls a second; %d not acknowledged\n",
		o.Engine, outageCallers, outageBuyers, outageAccounts, strings.Join(answers, ", "), o.Longest.Seconds(), float64(o.Anonymous)/megabyte, len(o.Verified), last.Seconds(), time.Second/playEvery, o.Unacknowledged)
}

func (o outage) missed() error {
	switch {
	case o.Unqueued != "":
		return errors.New("the verification of a buyer was not queued: " + o.Unqueued)
	case len(o.Verified) < outageBuyers:
		return fmt.Errorf("%d of %d buyers were verified", len(o.Verified), outageBuyers)
	case o.Verified[len(o.Verified)-1] > outageVerified:
		return fmt.Errorf("a buyer was verified %s after Play's return", o.Verified[len(o.Verified)-1])
	case o.Unacknowledged > 0:
		return fmt.Errorf("%d purchases were not acknowledged", o.Unacknowledged)
	}
	return nil
}
