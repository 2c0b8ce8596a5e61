package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
)

// listeners are where a server listens, the only one on its data folder.
type listeners struct {
	app      *app
	options  serverOptions
	log      *slog.Logger
	listener net.Listener
	metrics  net.Listener // nil: off
	lock     *sqldb.FolderLock
	counted  *web.Metrics // nil: off
}

func (a *app) newListeners(o serverOptions) listeners {
	return listeners{app: a, options: o, log: a.serverLog(o.log)}
}

// listen takes the addresses and locks the data folder. flag is the one that
// names the address.
func (l *listeners) listen(dir, flag string) error {
	// The address is taken before the lock, whose owner names it; but a second
	// server on one folder is told of the folder rather than of the address.
	var listenErr error
	addr, url := l.options.listen, ""
	if l.listener, listenErr = listen(addr, flag); listenErr == nil {
		addr, url = l.listener.Addr().String(), l.address()
	}
	var err error
	if l.lock, err = lockFolder(dir, fmt.Sprintf("process %d on %s", os.Getpid(), addr), url); err != nil {
		return err
	}
	if listenErr != nil {
		return listenErr
	}
	if l.options.metrics != "" {
		l.metrics, err = listen(l.options.metrics, "--metrics")
	}
	return err
}

// advise logs what the operator should know at the start: that other machines reach a server which does not know its
// own URL, and what other users of this machine can read.
func (l *listeners) advise(exposed []health.Finding, v serverVariables) {
	if addr := l.listener.Addr().(*net.TCPAddr); l.options.baseURL == "" && !addr.IP.IsLoopback() {
		l.log.Warn("other machines can reach this server, and it does not know its own URL; name it with --base-url or "+v.baseURL,
			"listen", addr.String(), "why", "links, default pictures and the issuer of licenses are made from it")
	}
	for _, f := range exposed {
		l.log.Warn(f.What, "why", f.Why, "fix", f.Fix)
	}
}

// listen is web.Listen with errors that name the flag.
func listen(addr, flag string) (net.Listener, error) {
	ln, err := web.Listen(addr)
	switch {
	case err == nil:
		return ln, nil
	case fault.HasKind(err, countersign.KindConflict):
		return nil, fail(exitConflict, fault.Of(err).Code, fmt.Sprintf("%s is in use by another program; stop it, or choose another address with %s", addr, flag))
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

// unlessDown is the error of a start, but nil for a PostgreSQL that is down and for a
// database that is to be migrated: both is done while the server runs.
func (l *listeners) unlessDown(p place, err error) error {
	if fault.HasCode(err, countersign.CodeMigrating) {
		l.log.Warn("the database is of an earlier version; it is backed up and migrated, and every request is answered 503 meanwhile")
		return nil
	}
	if p.url != "" && fault.IsUnavailable(err) && !fault.HasCode(err, sqldb.CodePooler) {
		l.log.Warn("the database can't be used; every request is answered 503 until it can", "cause", err)
		return nil
	}
	return err
}

// logProgress logs how far a migration is.
func (l *listeners) logProgress(percent, total int64) {
	l.log.Info("the database is being migrated", "percent", percent, "purchases", total)
}

// closeListeners gives back what listen took, once the database is closed; err is
// what closing that said.
func (l *listeners) closeListeners(err error) {
	for _, ln := range []net.Listener{l.listener, l.metrics} {
		if ln != nil {
			_ = ln.Close() // closed already, after a run
		}
	}
	if err != nil {
		l.log.Warn("the database was not closed cleanly", "cause", err)
	}
	l.lock.Unlock()
}

// url is where the server can be reached from this machine.
func (l *listeners) url() string { return urlOf(l.listener) }

// address is where browsers reach the server.
func (l *listeners) address() string {
	if l.options.baseURL != "" {
		return l.options.baseURL
	}
	return l.url()
}

// ownAddress tells the frame of a server's pages what --base-url says, and returns
// its path prefix.
func (l *listeners) ownAddress(about *frame.Options) (prefix string, err error) {
	base, err := url.Parse(l.options.baseURL)
	if err != nil {
		return "", fmt.Errorf("the base URL: %w", err)
	}
	about.Log, about.Now, about.BasePath, about.Secure = l.log, l.app.now, base.Path, base.Scheme == "https"
	if base.Host != "" {
		about.Origin = base.Scheme + "://" + base.Host
	}
	return base.Path, nil
}

func (l *listeners) metricsURL() string {
	if l.metrics == nil {
		return ""
	}
	return urlOf(l.metrics) + "/metrics"
}

func urlOf(ln net.Listener) string {
	addr := ln.Addr().(*net.TCPAddr).AddrPort()
	host := addr.Addr().Unmap().String()
	if addr.Addr().IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port()))
}

// metricsConnections is how many connections read metrics at once: they take from the descriptors that the others leave.
const metricsConnections = 16

// newMetrics makes metrics and the handler that serves them; nil without a listener for them.
func (l *listeners) newMetrics() (*web.Metrics, http.Handler) {
	if l.metrics == nil {
		return nil, nil
	}
	l.counted = web.NewMetrics(readBuildInfo().Version)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", l.counted.Handler())
	return l.counted, mux
}

// service is background work behind a handler.
type service struct {
	name string
	run  func(context.Context) error
}

// ending returns work whose end, wanted or not, stops the server.
func ending(stop func(), work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		defer stop()
		return work(ctx)
	}
}

// serve answers requests until ctx ends. The background work and the logs outlive
// the last request.
func (l *listeners) serve(ctx context.Context, access *web.AccessLog, handler, metrics http.Handler, behind ...service) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()

	work := group.New(ctx, l.log)
	start := func(name string, run func() error) {
		work.Go(name, ending(stop, func(context.Context) error { return run() }))
	}
	for _, one := range behind {
		start(one.name, func() error { return one.run(background) })
	}
	start("access log", func() error {
		_ = access.Run(background) // an error log that can't be written has no place to say so
		return nil
	})
	start("memory", func() error {
		l.app.tuneMemory(background)
		return nil
	})
	if l.metrics != nil {
		options := web.ServerOptions{Log: l.log, MaxConnections: metricsConnections}
		start("metrics", func() error { return web.Serve(ctx, l.metrics, metrics, options) })
	}
	served := web.Serve(ctx, l.listener, handler, web.ServerOptions{
		Log: l.log, Metrics: l.counted, TrustedProxies: l.options.proxies,
	})
	end()
	if err := work.Wait(); err != nil {
		return err
	}
	if served != nil {
		return fail(exitFailed, "stopped_late", served.Error()+"; their clients have to ask again")
	}
	return nil
}
