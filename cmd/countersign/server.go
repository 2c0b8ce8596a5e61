package main

import (
	"context"
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/web"
)

// server is a store with its listeners, the only one on its data folder.
type server struct {
	listeners
	options serveOptions
	store   *store.Store
}

// newServer opens everything that can fail at the start.
func (a *app) newServer(ctx context.Context, p place, o serveOptions) (*server, error) {
	s := &server{listeners: a.newListeners(o.serverOptions), options: o}
	err := s.open(ctx, p)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) open(ctx context.Context, p place) error {
	if err := s.listen(p.dir, "--listen"); err != nil {
		return err
	}
	options := s.app.storeOptions(p, s.log)
	options.CacheBytes, options.Lock, options.Progress = s.options.cache, s.lock, s.app.migrationProgress(s.logProgress)
	var err error
	if s.store, err = store.Open(ctx, options); err != nil {
		return err
	}
	prepare := s.store.BeginToServe
	if s.options.acceptLoss {
		prepare = func(ctx context.Context) error { return s.store.AcceptLoss(ctx, operator()) }
	}
	if err := s.unlessDown(p, prepare(ctx)); err != nil {
		return err
	}
	s.advise(s.store.Exposed(), storeVariables)
	return nil
}

// close gives back what open took.
func (s *server) close() {
	var err error
	if s.store != nil {
		err = s.store.Close()
	}
	s.closeListeners(err)
}

// run serves until ctx ends.
func (s *server) run(ctx context.Context) error {
	access := web.NewAccessLog(s.app.term.err, s.options.log)
	limits := limit.NewGuard(limit.Options{Failures: s.options.failLimit, Name: s.store.LimitName, Now: s.app.now})
	s.store.ShareLimits(ctx, limits)
	handler, metrics, err := s.handlers(access, web.NewGuard(limits))
	if err != nil {
		return err
	}
	return s.serve(ctx, access, handler, metrics, service{"store", s.store.Run})
}

// handlers are what the two listeners serve: the store, which is the JSON face with
// the pages behind it, and the metrics, nil without a listener.
func (s *server) handlers(access *web.AccessLog, guard *web.Guard) (store, metrics http.Handler, err error) {
	about := pages.FrameOptions()
	base, err := s.ownAddress(&about)
	if err != nil {
		return nil, nil, err
	}
	framed, err := frame.New(about)
	if err != nil {
		return nil, nil, err
	}
	o := api.Options{
		BaseURL: s.options.baseURL, Guard: guard, TrustedProxies: s.options.proxies,
		Pages: pages.New(pages.Options{Store: s.store, Frame: framed, Guard: guard, BaseURL: s.options.baseURL}),
		Log:   s.log, Access: access, Now: s.app.now,
	}
	if o.Metrics, metrics = s.newMetrics(); o.Metrics != nil {
		o.Metrics.Counter("countersign_damage_total", "Purchases found by the digest of another code: the database is damaged.",
			func() float64 { return float64(s.store.Validation.Damages()) })
		addDatabase(o.Metrics, s.store.DatabaseStatus)
	}
	return frame.StripBase(base, api.New(s.store, o)), metrics, nil
}
