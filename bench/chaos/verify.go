//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
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
	pause(ctx, staleLimit-time.Since(r.lastRefund()))
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

func (r *record) lastRefund() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last time.Time
	for _, at := range r.refunds {
		if at.After(last) {
			last = at
		}
	}
	return last
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
