//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// kept is what a store has in the end.
type kept struct {
	licenses map[string]bool   // by id
	states   map[string]string // of purchases, by code
}

// parseExport reads the lines of an export.
func parseExport(text string) (kept, error) {
	k := kept{licenses: map[string]bool{}, states: map[string]string{}}
	for line := range strings.Lines(text) {
		var one struct {
			Type  string `json:"type"`
			ID    any    `json:"id"`
			Code  string `json:"purchase_code"`
			State string `json:"state"`
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return k, fmt.Errorf("export: %w", err)
		}
		switch one.Type {
		case "license":
			k.licenses[fmt.Sprint(one.ID)] = true
		case "purchase":
			k.states[one.Code] = one.State
		}
	}
	return k, nil
}

// verify compares what was acknowledged with what the surviving servers have, and asks
// the store once more about every refunded code.
func (r *record) verify(ctx context.Context, s *store) error {
	program.Pause(ctx, staleLimit)
	for _, code := range r.refundedCodes() {
		r.validated(knownCode, code, s.validate(ctx, code), 404)
	}
	text, err := s.must(ctx, "store", "export", "--quiet")
	if err != nil {
		return err
	}
	k, err := parseExport(text)
	if err == nil {
		r.compare(k)
	}
	return err
}

// compare counts acknowledged writes that are missing, and commands that said that
// nothing was written when it was.
func (r *record) compare(k kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, one := range r.licenses {
		if !k.licenses[id] {
			r.violated(&r.counts[one.kind].missing, "the license %s of %s, acknowledged at %s, is missing", id, one.code, one.at.Format("15:04:05.0"))
		}
	}
	for code, at := range r.refunds {
		if k.states[code] != "refunded" {
			r.violated(&r.counts[refundCommand].missing, "the refund of %s, acknowledged at %s, is missing", code, at.Format("15:04:05.0"))
		}
	}
	for code, said := range r.unknown {
		if k.states[code] == "refunded" && deniesWrite(said) {
			r.violated(&r.counts[refundCommand].wrong, "%s is refunded, but the command said: %s", code, said)
		}
	}
}

// deniesWrite reports whether a text says that nothing was written.
func deniesWrite(text string) bool {
	text = strings.ToLower(text)
	denies := strings.Contains(text, "not written") || strings.Contains(text, "nothing was written")
	return denies && !strings.Contains(text, "may have been written")
}

// reconnectLimit is how long after the end of an outage validations may still fail: a
// server that is cut off answers nobody, so an attempt to connect to it ends with its
// timeout of 3 s before another is begun.
const reconnectLimit = 5 * time.Second

// underWay is how long a validation may have been under way when an outage begins. One
// that waited longer was held up by something else.
const underWay = 2 * time.Second

// outage is a time in which no server took connections that write.
type outage struct{ from, to time.Time }

// excuses reports whether a validation may fail that began and ended then.
func (o outage) excuses(f failure) bool {
	return !f.ended.Before(o.from) && !f.began.Before(o.from.Add(-underWay)) && !f.began.After(o.to.Add(reconnectLimit))
}

// refusals are the times that answers of 503 took whose requests were sent in outages, but
// not in their first two seconds, when a store does not know yet; sorted.
func (r *record) refusals(outages []outage) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []time.Duration
	for _, a := range r.unavailable {
		for _, o := range outages {
			if a.began.After(o.from.Add(2*time.Second)) && a.began.Before(o.to) {
				all = append(all, a.took())
			}
		}
	}
	slices.Sort(all)
	return all
}

// classify counts the validations that failed while a server took connections, and returns
// how long after the end of an outage the last excused one began.
func (r *record) classify(outages []outage) (back time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
		excused := false
		for _, o := range outages {
			if o.excuses(f) {
				excused = true
				back = max(back, f.began.Sub(o.to))
			}
		}
		if !excused {
			r.violated(&r.counts[f.kind].early, "%s, while a server took connections", f.text)
		}
	}
	return back
}
