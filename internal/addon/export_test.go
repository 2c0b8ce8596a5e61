package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

const RequestsKept = requestsKept

func (a *Addon) Box() *keyfile.Box                       { return a.guard.Box() }
func (a *Addon) DB() *addondb.DB                         { return a.db }
func (a *Addon) ForgetRequests()                         { a.forgetRequests() }
func (a *Addon) PruneRequests(ctx context.Context) error { return a.pruneRequests(ctx) }
func (a *Addon) Queue() *jobs.Queue                      { return a.Instance.Jobs }
func (a *Addon) SQL() *sqldb.DB                          { return a.Instance.Database }
func (a *Addon) WriteRequests(ctx context.Context)       { a.writeRequests(ctx) }
