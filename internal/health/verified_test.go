package health

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestVerifiedBackup(t *testing.T) {
	const hour = time.Hour
	verified := func(age time.Duration, problem string) string {
		return `[{"file":"x","created_at":"` + noon.Add(-age).Format(time.RFC3339) + `","verified_at":"` + noon.Format(time.RFC3339) + `","problem":"` + problem + `"}]`
	}
	tests := []struct {
		rule     string
		began    time.Duration // since the first entry of the audit log, 0 for none
		verified string
		schedule string
		level    Level
		says     string
	}{
		{"an empty service needs none", 0, "", "", OK, "no verified backup is needed"},
		{"one of today does", 1, "", "", Warn, "No backup was verified yet countersign x backup schedule --every 24h"},
		{"one of today with a schedule has a day for it", 23 * hour, "", `{"active":true}`, OK, "the first one is still to come"},
		{"one of yesterday does", 25 * hour, "", "", Warn, "No backup was verified yet countersign x backup schedule --every 24h"},
		{"one of a day and the next run is fine", 99 * hour, verified(25*hour, ""), "", OK, "The newest verified backup is of 20"},
		{"an older one is not", 99 * hour, verified(26*hour, ""), "", Warn, "older than a day"},
		{"a damaged one does not count", 99 * hour, verified(hour, "damaged"), "", Warn, "No backup was verified yet"},
		{"with a schedule, its state says why", 99 * hour, "", `{"active":true}`, Warn, "See why with: countersign x backup schedule"},
	}
	for _, tt := range tests {
		dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
			db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: at.Dir + "/x.db", Schemas: []sqldb.Schema{peopledb.Schema}}))(t)
			defer db.Close()
			must.Do(t, db.Migrate(t.Context()))
			must.Do(t, db.Tx(t.Context(), func(q sqldb.Queries) error {
				if tt.began > 0 {
					if err := people.Record(t.Context(), &peopledb.DB{Queries: q}, noon.Add(-tt.began), people.Operator("x"), people.Event{Action: "x.y"}); err != nil {
						return err
					}
				}
				if err := q.SetMeta(t.Context(), "verified_backups", tt.verified); err != nil {
					return err
				}
				return q.SetMeta(t.Context(), "backup_schedule", tt.schedule)
			}))
			f := VerifiedBackup(t.Context(), db, Location{Command: "countersign x", Now: noon})
			if f.Level != tt.level || !strings.Contains(f.What+" "+f.Fix, tt.says) || (f.Level != OK) != (f.Why != "" && f.Fix != "") {
				t.Errorf("%s: %+v", tt.rule, f)
			}
		})
	}
}
