package peopledb

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// Audit is one line of the audit log: who did what to what, and when.
type Audit struct {
	ID int64
	At sqldb.Time
	// Kind is the sort of actor, Actor its name within the kind.
	Kind, Actor string
	// FrontEnd is the front end through which the actor came.
	FrontEnd string
	// Address is the client's, "" for none.
	Address string
	Event
}

// Event is what an actor did. None of its texts ever holds a secret.
type Event struct {
	Action Action
	// Workspace is the username of the workspace concerned, "" for none.
	Workspace string
	// Subject names what was acted upon.
	Subject string
	// Detail describes more in words.
	Detail string
	// Before and After are what a change replaced and what it wrote.
	Before, After string
}

// Action names what an actor did: noun.verb, for example "key.reveal".
type Action string

// AddAudit writes a line, in the transaction of what it describes.
func (d *DB) AddAudit(ctx context.Context, a Audit) error {
	return d.Run(ctx, `INSERT INTO audit
		(at, actor_kind, actor, face, address, action, workspace, subject, detail, before, after)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		a.At, a.Kind, a.Actor, a.FrontEnd, a.Address, string(a.Action), a.Workspace, a.Subject, a.Detail, a.Before, a.After)
}

// FirstAudit returns the time of the oldest entry, false without any.
func (d *DB) FirstAudit(ctx context.Context) (at time.Time, some bool, err error) {
	first, err := sqldb.One(ctx, d.Queries, sqldb.Value[sqldb.Time], `SELECT at FROM audit ORDER BY id LIMIT 1`)
	if errors.Is(err, sqldb.ErrNotFound) {
		return time.Time{}, false, nil
	}
	return first.Time, err == nil, err
}

// AuditFilter selects entries.
type AuditFilter struct {
	// Before is an id that lines must be older than; 0 for the newest.
	Before int64
	// Limit is how many lines at most.
	Limit int
	// Action and Actor are exact; Noun is the part of an action before its dot.
	// Empty ones admit everything.
	Action, Noun, Actor, Workspace, Subject string
}

// auditWhere is the filter but for Before and Limit.
const auditWhere = ` ($2 = '' OR action = $2) AND substr(action, 1, $3) = $4 AND ($5 = '' OR actor = $5) AND ($6 = '' OR workspace = $6) `

// args are the arguments $1 to $6 of a query with auditWhere.
func (f AuditFilter) args() []any {
	before, noun := f.Before, ""
	if before == 0 {
		before = math.MaxInt64
	}
	if f.Noun != "" {
		noun = f.Noun + "."
	}
	return []any{before, f.Action, len(noun), noun, f.Actor, f.Workspace}
}

// Audits lists lines, newest first.
func (d *DB) Audits(ctx context.Context, f AuditFilter) ([]Audit, error) {
	where, args := auditWhere, append(f.args(), f.Limit)
	if f.Subject != "" { // by its index
		where, args = where+`AND subject = $8 `, append(args, f.Subject)
	}
	return sqldb.List(ctx, d.Queries, scanAudit, `SELECT id, at, actor_kind, actor, face, address, action, workspace, subject,
		detail, before, after FROM audit
		WHERE id < $1 AND`+where+`ORDER BY id DESC LIMIT $7`, args...)
}

// AuditPlace is where a page of the log is among all lines that a filter wants.
type AuditPlace struct {
	// All is how many lines there are, Newer how many of them are newer than the page.
	All, Newer int64
	// Before leads to the page before this one; 0 is the newest.
	Before int64
}

// AuditPlace returns where the page of a filter is, whose Subject counts for nothing.
func (d *DB) AuditPlace(ctx context.Context, f AuditFilter) (AuditPlace, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (p AuditPlace, err error) {
		err = r.Scan(&p.All, &p.Newer, &p.Before)
		return p, err
	}, `SELECT count(*), count(CASE WHEN id >= $1 THEN 1 END), COALESCE((
			SELECT id FROM audit WHERE id >= $1 AND`+auditWhere+`ORDER BY id LIMIT 1 OFFSET $7), 0)
		FROM audit WHERE`+auditWhere, append(f.args(), f.Limit)...)
}

func scanAudit(r sqldb.Row) (a Audit, err error) {
	err = r.Scan(&a.ID, &a.At, &a.Kind, &a.Actor, &a.FrontEnd, &a.Address, &a.Action, &a.Workspace, &a.Subject,
		&a.Detail, &a.Before, &a.After)
	return a, err
}
