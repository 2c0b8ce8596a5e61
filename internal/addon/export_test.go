package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	KindPull        = kindPull
	MetaStore       = metaStore
	PullBatch       = pullBatch
	PullPause       = pullPause
	RequestsKept    = requestsKept
	UpdateLock      = updateLock
	UserTokenIssuer = userTokenIssuer
	WebTokenFile    = webTokenFile
)

var MAC, NoncePattern, ReadTimestamp = mac, noncePattern, readTimestamp

func (a *Addon) Box() *keyfile.Box                    { return a.key.Box() }
func (a *Addon) DB() *addondb.DB                      { return a.db }
func (a *Addon) EnsurePull(ctx context.Context) error { return a.ensurePull(ctx) }
func (a *Addon) ForgetRequests()                      { a.forgetRequests() }
func (a *Addon) KeptCode(ctx context.Context, id int64) error {
	_, err := a.keptCode(ctx, id)
	return err
}
func (a *Addon) LockUpdate() (func(), error)                 { return a.lockUpdate() }
func (a *Addon) Nonces() int                                 { return len(a.nonces.until) }
func (a *Addon) PruneNonces(ctx context.Context)             { a.pruneNonces(ctx) }
func (a *Addon) Pairs() *cached.Value[pairTable]             { return &a.pairs }
func (a *Addon) PruneRequests(ctx context.Context) error     { return a.pruneRequests(ctx) }
func (a *Addon) Pull(ctx context.Context) (time.Time, error) { return a.doPull(ctx, nil) }
func (a *Addon) Queue() *jobs.Queue                          { return a.queue }
func (a *Addon) SQL() *sqldb.DB                              { return a.database }
func (a *Addon) SetPlayURL(url string)                       { a.plays.url = url }
func (a *Addon) SetStarted(at time.Time)                     { a.started = at }
func (a *Addon) SetupFileLasts() time.Duration               { return a.setupFileLasts() }
func (a *Addon) TidySetupFile(ctx context.Context) error     { return a.tidySetupFile(ctx) }
func (a *Addon) UserTokenKey() usertoken.Key                 { return a.userTokenKey() }
func (a *Addon) WriteRequests(ctx context.Context)           { a.writeRequests(ctx) }
func (a *Addon) WriteUses(ctx context.Context)               { a.writeUses(ctx) }
