package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
)

const RequestsKept = requestsKept

func (a *Addon) DB() *addondb.DB                         { return a.db }
func (a *Addon) ForgetRequests()                         { a.forgetRequests() }
func (a *Addon) PruneRequests(ctx context.Context) error { return a.pruneRequests(ctx) }
func (a *Addon) WriteRequests(ctx context.Context)       { a.writeRequests(ctx) }
