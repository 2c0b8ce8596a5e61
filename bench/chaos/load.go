//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

// purchases is how many there are in the store, of how many items. Each use has its own: codes that are
// asked again and again, refunds, licenses, and the rest for codes never asked before.
const (
	items        = 100
	purchases    = 40_000
	firstRefund  = 200
	firstLicense = 1_000
	firstNew     = 12_000
)

// The clients of each kind. Those of validations send one request and never wait for one
// another. There are more patient clients of licenses than a store has connections, so
// that their waiting commits could hold all.
const (
	betweenValidations = 30 * time.Millisecond
	patientClients     = 48
	impatientClients   = 8
)

// load is the clients of a store.
type load struct {
	store  *store
	record *record
	// The numbers of the next purchases.
	refund, license, fresh atomic.Int64
	running                sync.WaitGroup
	stop                   context.CancelFunc
}

// startLoad starts all clients. Requests under way end by themselves when the load is
// stopped, and at once with ctx.
func startLoad(ctx context.Context, s *store, r *record) *load {
	l := &load{store: s, record: r}
	l.refund.Store(firstRefund)
	l.license.Store(firstLicense)
	l.fresh.Store(firstNew)
	loadCtx, stop := context.WithCancel(ctx)
	l.stop = stop
	l.repeat(loadCtx, betweenValidations, func() { l.running.Go(func() { l.validateNew(ctx) }) })
	l.repeat(loadCtx, betweenValidations, func() { l.running.Go(func() { l.validateKnown(ctx) }) })
	for range patientClients {
		l.repeat(loadCtx, 1500*time.Millisecond, func() {
			l.issue(ctx, loadCtx, patientLicense, func() time.Duration { return answerLimit })
		})
	}
	for range impatientClients {
		l.repeat(loadCtx, 500*time.Millisecond, func() { l.issue(ctx, loadCtx, impatientLicense, impatience) })
	}
	l.repeat(loadCtx, time.Second, func() { l.refundOne(ctx, loadCtx, 0) })
	l.repeat(loadCtx, time.Second, func() { l.refundOne(ctx, loadCtx, 2*time.Second) })
	return l
}

// end stops the load and waits for what is under way.
func (l *load) end() {
	l.stop()
	l.running.Wait()
}

// repeat does something again and again, with pauses of the given mean.
func (l *load) repeat(loadCtx context.Context, every time.Duration, do func()) {
	l.running.Go(func() {
		for {
			program.Pause(loadCtx, time.Duration(rand.Int64N(2*int64(every))))
			if loadCtx.Err() != nil {
				return
			}
			do()
		}
	})
}

func (l *load) validateNew(ctx context.Context) {
	code := sample.BigCode(int(l.fresh.Add(1)) % purchases)
	l.record.validated(newCode, code, l.store.validate(ctx, code), 200)
}

// validateKnown asks for a code that was asked before, each fourth time for a refunded one.
func (l *load) validateKnown(ctx context.Context) {
	code := sample.BigCode(rand.IntN(firstRefund))
	if refunded := l.record.refundedCodes(); len(refunded) > 0 && rand.IntN(4) == 0 {
		code = refunded[rand.IntN(len(refunded))]
	}
	want := l.record.statuses(code)
	l.record.validated(knownCode, code, l.store.validate(ctx, code), want...)
}

// impatience is how long an impatient client waits for an answer.
func impatience() time.Duration {
	return 300*time.Millisecond + time.Duration(rand.Int64N(int64(1700*time.Millisecond)))
}

// issue asks for the license of a purchase until it is there.
func (l *load) issue(ctx, loadCtx context.Context, k kind, timeout func() time.Duration) {
	code := sample.BigCode(int(l.license.Add(1)))
	for !l.record.licensed(k, code, l.store.license(ctx, timeout(), code)) && loadCtx.Err() == nil {
		program.Pause(loadCtx, 200*time.Millisecond)
	}
}

// commandLimit is the time in which a command has to end. It may wait longer than a
// request: until the longest fault is over.
const commandLimit = 40 * time.Second

// refundOne refunds a purchase by a command, after its code was asked twice, so that the
// server has it in memory.
func (l *load) refundOne(ctx, loadCtx context.Context, interrupt time.Duration) {
	code := sample.BigCode(int(l.refund.Add(1)))
	for valid := 0; valid < 2; {
		a := l.store.validate(ctx, code)
		l.record.validated(knownCode, code, a, 200)
		if a.status == 200 {
			valid++
			continue
		}
		if program.Pause(loadCtx, 200*time.Millisecond); loadCtx.Err() != nil {
			return
		}
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	out, err := l.store.run(bounded, interrupt, "store", "purchase", "refund", code)
	if err != nil {
		out = result{stderr: err.Error(), code: -1}
	}
	l.record.refunded(code, time.Since(began), out)
}
