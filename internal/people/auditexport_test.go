package people

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/google/go-cmp/cmp"
)

// write puts lines into the log as rules do.
func (f *fixture) write(t *testing.T, events ...Event) {
	t.Helper()
	must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
		for _, e := range events {
			if err := Record(t.Context(), tx, f.clock.Now(), Operator("tester"), e); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (f *fixture) export(t *testing.T, filter AuditFilter, format AuditFormat) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, f.ExportAudit(t.Context(), Operator("tester"), filter, format, &out))
	return out.String()
}

func TestAuditIsExportedAsJSONLines(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.write(t, Event{Action: "setting.set", Subject: "appName", Before: "a<b", After: "two\nlines"}, Event{Action: "package.add", Subject: "=1+1"})
		want := `{"id":2,"at":"2026-11-01T12:00:00Z","kind":"operator","actor":"tester","face":"cli","address":"","action":"package.add","subject":"=1+1","detail":"","before":"","after":""}
{"id":1,"at":"2026-11-01T12:00:00Z","kind":"operator","actor":"tester","face":"cli","address":"","action":"setting.set","subject":"appName","detail":"","before":"a<b","after":"two\nlines"}
`
		expect.Equal(t, cmp.Diff(want, f.export(t, AuditFilter{}, AuditJSONL)), "")
		expect.Equal(t, f.export(t, AuditFilter{Actor: "nobody"}, AuditJSONL), "")
	})
}

func TestAuditIsExportedAsCSVWithoutFormulas(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, text := range []string{"=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n1", "＝1", "1=1", "a,\"b\"\nc", "é", "a;=1", "a;b;+1;-1", "a\t@sum", "a\n=1", "a\r\n＝1", "a;;=1", ";=1", "a; =1", `a;"=1`, `"=1"`, ""} {
			f.write(t, Event{Action: "setting.set", Subject: text})
		}
		rows := must.Get(csv.NewReader(strings.NewReader(f.export(t, AuditFilter{}, AuditCSV))).ReadAll())(t)
		var got []string
		for _, r := range rows {
			got = append(got, r[7])
		}
		want := []string{"subject", "", `"=1"`, `a;"'=1`, "a; =1", ";'=1", "a;;'=1", "a\n'＝1", "a\n'=1", "a\t'@sum", "a;b;'+1;'-1", "a;'=1", "é", "a,\"b\"\nc", "1=1", "'＝1", "'\n1", "'\r'=1", "'\t'=1", "'@sum", "'-1", "'+1", "'=1+1"}
		expect.Equal(t, cmp.Diff(want, got), "")
		expect.Equal(t, f.export(t, AuditFilter{Actor: "nobody"}, AuditCSV), "id,at,kind,actor,face,address,action,subject,detail,before,after\n")
	})
}

func TestAnExportHasAllLinesOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, n := range []int{maxAuditLimit, 1} { // one batch, and a little more
			events := make([]Event, n)
			for i := range events {
				events[i].Action = "setting.set"
			}
			f.write(t, events...)
			f.write(t, Event{Action: "package.add"})
			lines := strings.Split(strings.TrimSuffix(f.export(t, AuditFilter{Action: "setting", Limit: 3}, AuditJSONL), "\n"), "\n")
			seen := map[int64]bool{}
			for _, line := range lines {
				var r AuditRow
				if err := json.Unmarshal([]byte(line), &r); err != nil || seen[r.ID] || r.Action != "setting.set" {
					t.Fatalf("%s, %v", line, err)
				}
				seen[r.ID] = true
			}
			if want := map[int]int{maxAuditLimit: maxAuditLimit, 1: maxAuditLimit + 1}[n]; len(lines) != want {
				t.Errorf("%d lines instead of %d", len(lines), want)
			}
		}
	})
}

func TestAnExportThatCanNotBeReadWritesNothing(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		gone, stop := context.WithCancel(t.Context())
		stop()
		for _, format := range []AuditFormat{AuditCSV, AuditJSONL} {
			var out strings.Builder
			if err := f.ExportAudit(gone, Operator("tester"), AuditFilter{}, format, &out); err == nil || out.Len() > 0 {
				t.Errorf("%v, %q", err, out.String())
			}
			if err := f.ExportAudit(t.Context(), Actor{}, AuditFilter{}, format, &out); err == nil || out.Len() > 0 {
				t.Errorf("by nobody: %v, %q", err, out.String())
			}
		}
	})
}
