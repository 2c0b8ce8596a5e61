package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

// staleTries is how many tries an engine gets: a command takes longer than a call.
func staleTries(engine string) int {
	if engine == "postgres" {
		return 10_000
	}
	return 200
}

// revokes reports whether a try revokes a key in place of refunding a purchase.
func revokes(engine string, i int) bool {
	if engine == "postgres" {
		return i%10 == 0
	}
	return i%2 == 0
}

// otherProcess takes back what a server says.
type otherProcess interface {
	refund(ctx context.Context, code string) error
	createKey(ctx context.Context, name string) (id int64, key string, err error)
	revokeKey(ctx context.Context, id int64) error
}

// countStale makes all tries on the shop's engine.
func (s *shop) countStale(ctx context.Context) (staleness, error) {
	server, err := s.serve(ctx)
	if err != nil {
		return staleness{}, err
	}
	defer server.stop()
	if err := waitReady(ctx, server.address); err != nil {
		return staleness{}, err
	}
	var other otherProcess = commands{s}
	atOnce := 2
	if s.settings.engine() == "postgres" {
		second, err := s.openSecond(ctx)
		if err != nil {
			return staleness{}, err
		}
		defer second.close()
		other, atOnce = second, 16
	}
	before, err := readMachineTime()
	if err != nil {
		return staleness{}, err
	}
	seen, err := systemObserver().observeAll(ctx, s.settings.purchases, atOnce, s.tries(server.address, other))
	if err != nil {
		return staleness{}, err
	}
	after, err := readMachineTime()
	counted := stalenessOf(s.settings.engine(), seen)
	counted.Stolen = after.stolenSince(before)
	return counted, err
}

func systemObserver() observer {
	return observer{now: time.Now, wait: func(ctx context.Context, d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}}
}

// tries makes try number i about purchase number i.
func (s *shop) tries(address string, other otherProcess) func(context.Context, int) (try, error) {
	began := time.Now().Unix() // names of keys are never given twice
	client := &http.Client{Timeout: refusalTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return func(ctx context.Context, i int) (try, error) {
		q := benchRequest{client: client, address: address, key: sample.BigKey(), code: sample.BigCode(i), refusal: http.StatusNotFound}
		if !revokes(s.settings.engine(), i) {
			return try{q.send, func(ctx context.Context) error { return other.refund(ctx, q.code) }}, nil
		}
		id, key, err := other.createKey(ctx, fmt.Sprintf("stale %d %d", began, i))
		q.key, q.refusal = key, http.StatusUnauthorized
		return try{q.send, func(ctx context.Context) error { return other.revokeKey(ctx, id) }}, err
	}
}
