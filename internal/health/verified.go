package health

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	day = 24 * time.Hour
	// verifiedFor is how old the newest verified backup may be: a day, and the time in which that of
	// the next day is written and verified.
	verifiedFor = day + time.Hour
)

// VerifiedBackup warns when the newest verified backup is older than a day, or no backup was verified. A service with
// an empty audit log needs none, and one with a schedule has a day from its first entry for the first one.
func VerifiedBackup(ctx context.Context, db *sqldb.DB, p Location) Finding {
	const name, why = "verified backup", "Only a backup that was restored once, into a temporary database, is known to be whole."
	began, some, err := (&peopledb.DB{Queries: db.Queries()}).FirstAudit(ctx)
	if err != nil {
		return Of(name, err, why, "Check the database.")
	}
	last, err := backup.LastVerified(ctx, db.Queries(), p.Now)
	if err != nil {
		return Of(name, err, why, "Check the database.")
	}
	schedule, err := backup.ReadSchedule(ctx, db.Queries())
	if err != nil {
		return Of(name, err, why, "Check the database.")
	}
	fix := p.Command + " backup schedule --every 24h"
	if schedule.Active {
		fix = "See why with: " + p.Command + " backup schedule"
	}
	at, known := last.CreatedAt, !last.VerifiedAt.IsZero()
	age := p.Now.Sub(at)
	switch {
	case known && age <= verifiedFor && last.Lacks != "":
		return Finding{name, Warn, fmt.Sprintf("The newest verified backup (%s) lacks %s", at.Format(time.RFC3339), last.Lacks), "They could not be restored from it.",
			"Copy these files back from an earlier backup, or upload them again."}
	case known && age <= verifiedFor:
		return good(name, fmt.Sprintf("The newest verified backup is of %s", at.Format(time.RFC3339)))
	case !some:
		return good(name, "Nothing to lose yet: no verified backup is needed")
	case schedule.Active && p.Now.Sub(began) < day:
		return good(name, "Backups are scheduled, and the first one is still to come")
	case known:
		return Finding{name, Warn, fmt.Sprintf("The newest verified backup is older than a day (%s)", at.Format(time.RFC3339)), why, fix}
	}
	return Finding{name, Warn, "No backup was verified yet", why, fix}
}
