package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/web"
)

// server is a store with its listeners, the only one on its data folder.
type server struct {
	app      *app
	options  serveOptions
	log      *slog.Logger
	store    *store.Store
	listener net.Listener
	metrics  net.Listener // nil: off
	unlock   func()
}

// newServer opens everything that can fail at the start.
func (a *app) newServer(ctx context.Context, p place, o serveOptions) (*server, error) {
	s := &server{app: a, options: o, log: a.serverLog(o.log), unlock: func() {}}
	err := s.open(ctx, p)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) open(ctx context.Context, p place) error {
	// The address is taken before the lock, whose owner names it; but a second
	// server on one folder is told of the folder rather than of the address.
	var listenErr error
	addr := s.options.listen
	if s.listener, listenErr = listen(addr, "--listen"); listenErr == nil {
		addr = s.listener.Addr().String()
	}
	unlock, err := lockFolder(p.dir, fmt.Sprintf("process %d on %s", os.Getpid(), addr))
	if err != nil {
		return err
	}
	s.unlock = unlock
	if listenErr != nil {
		return listenErr
	}
	if s.options.metrics != "" {
		if s.metrics, err = listen(s.options.metrics, "--metrics"); err != nil {
			return err
		}
	}
	options := s.app.storeOptions(p, s.log)
	options.CacheBytes = s.options.cache
	if s.store, err = store.Open(ctx, options); err != nil {
		return err
	}
	return s.prepare(ctx, p)
}

// prepare prepares the store. A PostgreSQL that is down is waited for while the
// server runs.
func (s *server) prepare(ctx context.Context, p place) error {
	err := s.store.PrepareToServe(ctx)
	var ours *countersign.Error
	if p.url != "" && errors.As(err, &ours) && ours.Kind == countersign.KindUnavailable {
		s.log.Warn("the database can't be used; every request is answered 503 until it can", "cause", err)
		return nil
	}
	return err
}

// listen is web.Listen with errors that name the flag.
func listen(addr, flag string) (net.Listener, error) {
	ln, err := web.Listen(addr)
	var ours *countersign.Error
	switch {
	case err == nil:
		return ln, nil
	case errors.As(err, &ours) && ours.Kind == countersign.KindConflict:
		return nil, fail(exitConflict, ours.Code, fmt.Sprintf("%s is in use by another program; stop it, or choose another address with %s", addr, flag))
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(exitNotAllowed, "address_refused", fmt.Sprintf("this user may not listen on %s; choose a port above 1023 with %s", addr, flag))
	}
	return nil, fail(exitFailed, "address_unusable", fmt.Sprintf("%s can't be listened on (%v); choose another address with %s", addr, reason(err), flag))
}

// serverLog is the log of a server, on stderr.
func (a *app) serverLog(mode web.LogMode) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.quiet {
		options.Level = slog.LevelWarn
	}
	if mode == web.LogJSON {
		return slog.New(slog.NewJSONHandler(a.term.err, options))
	}
	return slog.New(slog.NewTextHandler(a.term.err, options))
}

// close gives back what open took.
func (s *server) close() {
	for _, ln := range []net.Listener{s.listener, s.metrics} {
		if ln != nil {
			_ = ln.Close() // closed already, after a run
		}
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.log.Warn("the database was not closed cleanly", "cause", err)
		}
	}
	s.unlock()
}

// url is where the store can be reached from this machine.
func (s *server) url() string { return urlOf(s.listener) }

func (s *server) metricsURL() string {
	if s.metrics == nil {
		return ""
	}
	return urlOf(s.metrics) + "/metrics"
}

func urlOf(ln net.Listener) string {
	addr := ln.Addr().(*net.TCPAddr).AddrPort()
	host := addr.Addr().Unmap().String()
	if addr.Addr().IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port()))
}

// run serves until ctx ends. The store's background work and the logs outlive
// the last request.
func (s *server) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()

	access := web.NewAccessLog(s.app.term.err, s.options.log)
	handler, metrics := s.handlers(access)
	work := &group{log: s.log, stop: stop}
	work.start("store", func() error { return s.store.Run(background) })
	work.start("access log", func() error {
		_ = access.Run(background) // an error log that can't be written has no place to say so
		return nil
	})
	work.start("memory", func() error {
		s.app.tuneMemory(background)
		return nil
	})
	if s.metrics != nil {
		work.start("metrics", func() error { return web.Serve(ctx, s.metrics, metrics, web.ServerOptions{Log: s.log}) })
	}
	served := web.Serve(ctx, s.listener, handler, web.ServerOptions{Log: s.log})
	end()
	if err := work.wait(); err != nil {
		return err
	}
	if served != nil {
		return fail(exitFailed, "stopped_late", served.Error()+"; their clients have to ask again")
	}
	return nil
}

// handlers are what the two listeners serve; the second is nil without one.
func (s *server) handlers(access *web.AccessLog) (store, metrics http.Handler) {
	o := api.Options{
		BaseURL: s.options.baseURL, FailLimit: s.options.failLimit, TrustedProxies: s.options.proxies,
		Log: s.log, Access: access, Now: s.app.now,
	}
	if s.metrics != nil {
		o.Metrics = web.NewMetrics(readBuildInfo().Version)
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", o.Metrics.Handler())
		metrics = mux
	}
	return api.New(s.store, o), metrics
}
