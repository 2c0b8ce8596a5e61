package people

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// Event is what an actor did, and Action its name.
type (
	Event  = peopledb.Event
	Action = peopledb.Action
)

// Record writes a line of the audit log, in the transaction of what it describes.
func Record(ctx context.Context, tx *peopledb.DB, at time.Time, a Actor, e Event) error {
	return recordAt(ctx, tx, at, addressText(a.Addr), a, e)
}

// recordAt is Record with an address, or a network, as text.
func recordAt(ctx context.Context, tx *peopledb.DB, at time.Time, address string, a Actor, e Event) error {
	return tx.AddAudit(ctx, peopledb.Audit{
		At: sqldb.Time{Time: at}, Kind: string(a.Kind), Actor: a.ID, FrontEnd: string(a.FrontEnd), Address: address, Event: e,
	})
}

// AuditLine is a line of the audit log.
type AuditLine struct {
	ID int64
	At time.Time
	// Kind, Actor, FrontEnd and Address say who, through which front end and from where;
	// Address is empty at the command line.
	Kind     Kind
	Actor    string
	FrontEnd FrontEnd
	Address  string
	Event
}

// AuditFilter selects entries of the audit log.
type AuditFilter struct {
	// Before is the id of the last line of the page before; 0 for the newest.
	Before int64
	// Limit is how many lines at most: 50 when it is 0, and never more than 500.
	Limit int
	// Action is noun.verb, or a noun alone for all of its verbs; "" for all.
	Action string
	// Actor is an actor's ID; "" for all.
	Actor string
	// Workspace is the username of a workspace; "" for all.
	Workspace string
	// Subject names what was acted upon; "" for all. Only [AuditLog.Audit] knows it.
	Subject string
}

// AuditLog is the audit log of a database, for reading.
type AuditLog struct {
	db         *peopledb.DB
	workspaces bool
	// workspace is the only one whose entries can be read, "" for all.
	workspace string
	may       func(context.Context, Actor) error
}

// newAuditLog returns the audit log of a database. workspaces is that of [Options].
func newAuditLog(db *peopledb.DB, workspaces bool) *AuditLog {
	return &AuditLog{db: db, workspaces: workspaces, may: func(_ context.Context, a Actor) error { return may(a, manage) }}
}

// Of returns the entries about one workspace, for the actors for whom may returns nil.
func (g *AuditLog) Of(workspace string, may func(context.Context, Actor) error) *AuditLog {
	return &AuditLog{db: g.db, workspaces: g.workspaces, workspace: workspace, may: may}
}

// How many lines a page of the audit log has when none is asked for, and at most.
const (
	auditLimit    = 50
	maxAuditLimit = 500
)

// Audit lists lines of the audit log, newest first.
func (g *AuditLog) Audit(ctx context.Context, a Actor, f AuditFilter) ([]AuditLine, error) {
	if err := g.may(ctx, a); err != nil {
		return nil, err
	}
	rows, possible := g.of(f).rows()
	if !possible {
		return nil, nil
	}
	list, err := g.db.Audits(ctx, rows)
	return sqldb.Convert(list, func(l peopledb.Audit) AuditLine {
		return AuditLine{ID: l.ID, At: l.At.Time, Kind: Kind(l.Kind), Actor: l.Actor, FrontEnd: FrontEnd(l.FrontEnd), Address: l.Address, Event: l.Event}
	}), err
}

// AuditPlace is where a page of the log is among all lines that a filter wants.
type AuditPlace = peopledb.AuditPlace

// AuditPlace returns where the page that [AuditLog.Audit] lists is.
func (g *AuditLog) AuditPlace(ctx context.Context, a Actor, f AuditFilter) (AuditPlace, error) {
	if err := g.may(ctx, a); err != nil {
		return AuditPlace{}, err
	}
	rows, possible := g.of(f).rows()
	if !possible {
		return AuditPlace{}, nil
	}
	return g.db.AuditPlace(ctx, rows)
}

// of is a filter within the log.
func (g *AuditLog) of(f AuditFilter) AuditFilter {
	if g.workspace != "" {
		f.Workspace = g.workspace
	}
	return f
}

// rows is the filter for the query. It reports false for one that no line fits and
// that not every engine can look for.
func (f AuditFilter) rows() (rows peopledb.AuditFilter, possible bool) {
	for _, text := range []string{f.Action, f.Actor, f.Workspace, f.Subject} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return rows, false
		}
	}
	rows = peopledb.AuditFilter{Before: f.Before, Limit: f.Limit, Actor: f.Actor, Workspace: f.Workspace, Subject: f.Subject}
	if f.Limit <= 0 {
		rows.Limit = auditLimit
	}
	rows.Limit = min(rows.Limit, maxAuditLimit)
	if strings.Contains(f.Action, ".") {
		rows.Action = f.Action
	} else {
		rows.Noun = f.Action
	}
	return rows, true
}
