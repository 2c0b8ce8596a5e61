package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

// oldTables are those of the last version that had a row for each call. The parts were made at run time.
const oldTables = `
	CREATE TABLE requests_versions (version_id bigint NOT NULL);
	INSERT INTO requests_versions VALUES (0), (1), (2), (3);
	CREATE TABLE request_parts (first_id bigint PRIMARY KEY, end_id bigint NOT NULL, calls bigint NOT NULL);
	CREATE TABLE request_counts (workspace_id bigint NOT NULL, hour bigint NOT NULL, item_id bigint NOT NULL, key_id bigint NOT NULL, result text NOT NULL,
		calls bigint NOT NULL, PRIMARY KEY (workspace_id, hour, item_id, key_id, result));
	CREATE TABLE request_days (workspace_id bigint NOT NULL, subject bigint NOT NULL, day bigint NOT NULL, subject_id bigint NOT NULL, result text NOT NULL,
		calls bigint NOT NULL, PRIMARY KEY (workspace_id, subject, day, subject_id, result));
	CREATE TABLE request_items (workspace_id bigint NOT NULL, span bigint NOT NULL, start bigint NOT NULL, result text NOT NULL, calls bytea NOT NULL,
		PRIMARY KEY (workspace_id, span, start, result));
	CREATE TABLE request_items_done (span bigint PRIMARY KEY, last bigint NOT NULL);
	CREATE TABLE request_gaps (from_at text NOT NULL, until_at text NOT NULL, calls bigint NOT NULL);
	INSERT INTO request_gaps VALUES ('2026-11-22T10:00:00Z', '2026-11-22T10:00:05Z', 7);`

const oldCalls = ` (id bigint NOT NULL, workspace_id bigint NOT NULL, key_id bigint NOT NULL, item_id bigint NOT NULL, purchase_id bigint NOT NULL, endpoint text NOT NULL,
	method text NOT NULL, status bigint NOT NULL, reason text NOT NULL, micros bigint NOT NULL, address text NOT NULL, agent text NOT NULL, sent text NOT NULL)`

const oldSlots = ` (kind bigint NOT NULL, value bigint NOT NULL, slot bigint NOT NULL, PRIMARY KEY (kind, value, slot))`

// oldLog makes a log of the version before with one call an hour of three days up to noon, of which the last is not packed, and the
// counts of a day long before. It returns the ids, the newest first.
func (f *fixture) oldLog(t *testing.T) (ids []requestid.Number) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: f.place.URL, Path: f.path()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Tx(t.Context(), func(q sqldb.Queries) (err error) {
		exec := func(query string, args ...any) {
			if err == nil {
				_, err = q.Exec(t.Context(), query, args...)
			}
		}
		for query := range strings.SplitSeq(oldTables, ";\n") {
			exec(query)
		}
		if f.place.URL != "" {
			exec(`CREATE TABLE requests` + oldCalls + ` PARTITION BY RANGE (id)`)
			exec(`CREATE TABLE request_slots` + oldSlots + ` PARTITION BY RANGE (slot)`)
		}
		day := func(n int) time.Time { return noon.Truncate(24*time.Hour).AddDate(0, 0, n) }
		for n := -2; n <= 0; n++ {
			first, end, name := firstAt(day(n)), firstAt(day(n+1)), day(n).Format("20060102_150405")+"000"
			exec(`INSERT INTO request_parts VALUES ($1, $2, 24)`, first, end)
			if f.place.URL != "" {
				exec(fmt.Sprintf(`CREATE TABLE requests_%s PARTITION OF requests FOR VALUES FROM (%d) TO (%d)`, name, first, end))
				exec(fmt.Sprintf(`CREATE TABLE request_slots_%s PARTITION OF request_slots FOR VALUES FROM (%d) TO (%d)`, name, first, end))
			} else {
				exec(`CREATE TABLE requests_` + name + oldCalls)
				exec(`CREATE TABLE request_slots_` + name + oldSlots)
			}
			for at := day(n); at.Before(day(n+1)) && at.Before(noon); at = at.Add(time.Hour) {
				id, reason := firstAt(at)+5, ""
				if at.Hour()%2 == 1 {
					reason = "key_scope"
				}
				ids = append([]requestid.Number{requestid.Number(id)}, ids...)
				exec(`INSERT INTO requests_`+name+` VALUES ($1, 1, 2, 3, 4, '/api/items/all', 'GET', 200, $2, 1500, '192.0.2.7', 'curl/8', $3)`, id, reason, "hapi_key\nbpurchase_code=7c0f…01\n")
				exec(`INSERT INTO request_counts VALUES (1, $1, 3, 2, $2, 1)`, hourOf(at), reason)
				for _, of := range [][2]int64{{0, 0}, {2, 2}} {
					exec(`INSERT INTO request_days VALUES (1, $1, $2, $3, $4, 1) ON CONFLICT (workspace_id, subject, day, subject_id, result) DO UPDATE SET calls = request_days.calls + 1`,
						of[0], hourOf(at)/24, of[1], reason)
				}
			}
			for _, reason := range []string{"", "key_scope"} {
				if n < 0 {
					exec(`INSERT INTO request_items VALUES (1, 1, $1, $2, $3)`, hourOf(day(n))/24, reason, packSums(map[int64]int64{3: 12}))
				}
			}
		}
		long := hourOf(day(-60)) / 24
		exec(`INSERT INTO request_days VALUES (1, 0, $1, 0, '', 100), (1, 2, $1, 2, '', 90), (1, 2, $1, 8, '', 10)`, long)
		exec(`INSERT INTO request_items VALUES (1, 1, $1, '', $2)`, long, packSums(map[int64]int64{3: 60, 9: 40}))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestTheLogOfTheVersionBeforeIsConverted(t *testing.T) {
	engines(t, Keep{For: 30 * 24 * time.Hour, Calls: 100}, func(t *testing.T, f *fixture) {
		old := f.oldLog(t)
		for range 2 { // it ends and begins again between
			id := f.put(nil)
			f.flushed(t)
			if ids := f.ids(t, Filter{}); len(ids) < 2 || ids[0] != id || f.converted {
				t.Errorf("%d calls while it is converted", len(ids))
			}
			old = append([]requestid.Number{id}, old...)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f.clock.Move(time.Second)
		}
		for !f.converted {
			f.flushed(t)
		}
		if diff := cmp.Diff(old, f.ids(t, Filter{})); diff != "" {
			t.Error(diff)
		}
		call, err := f.Call(t.Context(), operator, 1, old[2].String())
		want := Call{
			ID: old[2], Workspace: 1, Key: 2, Item: 3, Purchase: 4, Endpoint: "/api/items/all", Method: "GET", Status: 200, Reason: "key_scope",
			Took: 1500 * time.Microsecond, Address: "192.0.2.7", Agent: "curl/8", Sent: []Param{{InHeader, "api_key", ""}, {InBody, "purchase_code", "7c0f…01"}},
		}
		if diff := cmp.Diff(want, call); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if got := f.ids(t, Filter{Address: "192.0.2.7", Result: Failed, Purchase: 4}); len(got) != 30 {
			t.Errorf("%d failed calls", len(got))
		}
		for by, want := range map[By][]Count{
			ByResult: {{Valid: 132}, {Reason: "key_scope", Failed: 30}},
			ByKey:    {{ID: 2, Valid: 122, Failed: 30}, {ID: 8, Valid: 10}},
			ByItem:   {{ID: 3, Valid: 92, Failed: 30}, {ID: 9, Valid: 40}},
		} {
			got, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: noon.AddDate(0, 0, -90), To: noon.AddDate(0, 0, 1), By: by})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("by %s: %v %s", by, err, diff)
			}
		}
		hours, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: noon.Add(-2 * time.Hour), To: noon.Add(time.Hour), By: ByHour})
		if diff := cmp.Diff([]Count{{At: noon.Add(-2 * time.Hour), Valid: 1}, {At: noon.Add(-time.Hour), Failed: 1}, {At: noon, Valid: 2}}, hours); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if s, err := f.State(t.Context(), operator, 0); err != nil || len(s.Gaps) != 1 || s.Gaps[0].Calls != 7 {
			t.Errorf("%+v, %v", s, err)
		}
		names := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'request%' ORDER BY name`
		if f.place.URL != "" {
			names = `SELECT tablename::text FROM pg_tables WHERE tablename LIKE 'request%' ORDER BY tablename`
		}
		got, err := sqldb.List(t.Context(), f.db.Queries(), sqldb.Value[string], names)
		if diff := cmp.Diff([]string{"request_blocks", "request_gaps", "request_log_versions", "request_sums"}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
