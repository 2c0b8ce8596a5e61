package people

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/google/go-cmp/cmp"
)

// note writes a line of the audit log.
func (f *fixture) note(t *testing.T, a Actor, e Event) {
	t.Helper()
	must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error { return Record(t.Context(), tx, f.clock.Now(), a, e) }))
}

func TestAuditSaysWhoWhatFromWhereAndBeforeAndAfter(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		key := Actor{Kind: KindKey, ID: "7", FrontEnd: FrontEndAPI, Addr: netip.MustParseAddr("2001:db8::1")}
		event := Event{Action: "setting.set", Workspace: "ada", Subject: "appName", Detail: "draft", Before: "Old <b>", After: "New \"é\""}
		f.note(t, key, event)
		f.note(t, operator, Event{Action: "settings.publish"})
		got := must.Get(f.Audit(t.Context(), operator, AuditFilter{}))(t)
		want := []AuditLine{
			{ID: 2, At: f.clock.Now(), Kind: KindOperator, Actor: "tester", FrontEnd: FrontEndCommand, Event: Event{Action: "settings.publish"}},
			{ID: 1, At: f.clock.Now(), Kind: KindKey, Actor: "7", FrontEnd: FrontEndAPI, Address: "2001:db8::1", Event: event},
		}
		expect.Equal(t, cmp.Diff(want, got), "")
	})
}

func TestAuditIsFilteredAndPaged(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, a := range []Action{"setting.set", "settings.publish", "setting.add", "settings.rollback"} {
			f.note(t, operator, Event{Action: a})
			f.note(t, Actor{Kind: KindUser, ID: "ada_@site.example", User: 1}, Event{Action: a})
		}
		tests := []struct {
			rule   string
			filter AuditFilter
			want   []int64
		}{
			{"all, newest first", AuditFilter{}, []int64{8, 7, 6, 5, 4, 3, 2, 1}},
			{"a page", AuditFilter{Limit: 3}, []int64{8, 7, 6}},
			{"the page after it", AuditFilter{Limit: 3, Before: 6}, []int64{5, 4, 3}},
			{"the last page", AuditFilter{Limit: 3, Before: 3}, []int64{2, 1}},
			{"after the last page", AuditFilter{Limit: 3, Before: 1}, []int64{}},
			{"one action", AuditFilter{Action: "setting.set"}, []int64{2, 1}},
			{"a noun's actions, not those of a longer noun", AuditFilter{Action: "setting"}, []int64{6, 5, 2, 1}},
			{"an actor", AuditFilter{Actor: "ada_@site.example"}, []int64{8, 6, 4, 2}},
			{"signs of LIKE are letters", AuditFilter{Actor: "ada%"}, []int64{}},
			{"actor, noun and page together", AuditFilter{Actor: "tester", Action: "settings", Before: 7, Limit: 1}, []int64{3}},
			{"NUL is nobody", AuditFilter{Actor: "\x00"}, []int64{}},
			{"invalid UTF-8 is nothing", AuditFilter{Action: "\xff"}, []int64{}},
		}
		for _, tt := range tests {
			lines, err := f.Audit(t.Context(), operator, tt.filter)
			ids := []int64{}
			for _, l := range lines {
				ids = append(ids, l.ID)
			}
			if diff := cmp.Diff(tt.want, ids); err != nil || diff != "" {
				t.Errorf("%s: %v %s", tt.rule, err, diff)
			}
		}
	})
}

func TestAuditTellsWhereAPageIs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for range 4 {
			f.note(t, operator, Event{Action: "settings.set"})
			f.note(t, Actor{Kind: KindUser, ID: "eve", User: 1}, Event{Action: "settings.set"})
		}
		tests := []struct {
			rule   string
			filter AuditFilter
			want   AuditPlace
		}{
			{"the first page", AuditFilter{Limit: 3}, AuditPlace{All: 8}},
			{"the second page", AuditFilter{Limit: 3, Before: 6}, AuditPlace{All: 8, Newer: 3}},
			{"the third page", AuditFilter{Limit: 3, Before: 3}, AuditPlace{All: 8, Newer: 6, Before: 6}},
			{"lines that the filter does not want don't count", AuditFilter{Limit: 1, Before: 4, Actor: "eve"}, AuditPlace{All: 4, Newer: 3, Before: 6}},
			{"NUL is nobody", AuditFilter{Actor: "\x00"}, AuditPlace{}},
		}
		for _, tt := range tests {
			got, err := f.AuditPlace(t.Context(), operator, tt.filter)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", tt.rule, err, diff)
			}
		}
	})
}

func TestAuditPagesAreBounded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			for i := range maxAuditLimit + 10 {
				if err := Record(t.Context(), tx, f.clock.Now(), operator, Event{Action: "a.b", Subject: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		}))
		for limit, want := range map[int]int{0: 50, -1: 50, 1: 1, 100_000: 500} {
			if lines, err := f.Audit(t.Context(), operator, AuditFilter{Limit: limit}); err != nil || len(lines) != want {
				t.Errorf("limit %d: %d lines, %v", limit, len(lines), err)
			}
		}
	})
}
