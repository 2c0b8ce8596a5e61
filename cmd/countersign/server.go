package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
)

// server is a service with its listeners, the only one on its data folder.
type server struct {
	app      *app
	options  serverOptions
	log      *slog.Logger
	access   *web.AccessLog
	listener net.Listener
	metrics  net.Listener // nil: off
	redirect net.Listener // nil: off
	// certificates are nil for plain HTTP. challenges answers those of HTTP-01, nil without ACME.
	certificates certificates
	challenges   func(next http.Handler) http.Handler
	// errorBody is the form of errors; nil is that of the store.
	errorBody func(*http.Request, *countersign.Error) []byte
	lock      *sqldb.FolderLock
	service   io.Closer               // nil until it is open
	instance  *instance.Instance      // of the service
	counted   *web.Metrics            // nil: off
	readings  []func(context.Context) // for metrics
}

func (a *app) newServer(o serverOptions) server {
	signal.Ignore(syscall.SIGPIPE) // it would end the process once nobody reads its log
	a.Out.GoOn()
	a.Err.GoOn()
	return server{app: a, options: o, log: a.serverLog(o.log), access: web.NewAccessLog(a.Err, o.log)}
}

// prepare makes the service ready by begin. Or it accepts that its database lacks commits, and makes it ready by again.
func (l *server) prepare(ctx context.Context, at location, begin, again func(context.Context) error) error {
	if l.options.acceptLoss {
		begin = func(ctx context.Context) error { return l.instance.AcceptLoss(ctx, operator(), again) }
	}
	err := l.unlessDown(at, begin(ctx))
	if err == nil || fault.HasCode(err, fault.CodeUpdateNeeded) {
		l.advise(append(l.instance.Exposed(), l.options.exposed...))
	}
	return err
}

// open takes the addresses and the data folder of a service, once that is known to be the service's.
func (l *server) open(ctx context.Context, of locationFlags, at location) error {
	if err := l.app.check(ctx, of, at); err != nil {
		return err
	}
	if err := l.openTLS(at.dir); err != nil {
		return err
	}
	return l.listen(at.dir)
}

// servedView is where a server is.
type servedView struct {
	StoreURL string `json:"store_url,omitempty"`
	AddonURL string `json:"addon_url,omitempty"`
	// SetupURL is where the first administrator is created, "" when one exists.
	SetupURL   string `json:"setup_url,omitempty"`
	MetricsURL string `json:"metrics_url,omitempty"`
	// RedirectURL is redirected to https, "" without such an address.
	RedirectURL string `json:"redirect_url,omitempty"`
}

// announce prints where a server is: the view with --json, else sentences.
func (l *server) announce(at location, view servedView) error {
	if l.app.JSON {
		view.MetricsURL, view.RedirectURL = l.metricsURL(), l.redirectURL()
		if err := l.app.PrintJSON(view); err != nil {
			return err
		}
	}
	engine := "SQLite"
	if at.url != "" {
		engine = "PostgreSQL"
	}
	l.app.Say("Serving %s (data folder %s, %s). Stop with Ctrl-C.", l.url(), cli.Safe(at.dir), engine)
	if l.metrics != nil {
		l.app.Say("Metrics at %s.", l.metricsURL())
	}
	if l.redirect != nil {
		l.app.Say("Redirecting %s to https.", l.redirectURL())
	}
	return nil
}

// listen takes the addresses and locks the data folder.
func (l *server) listen(dir string) error {
	// The address is taken before the lock, whose owner names it; but a second
	// server on one folder is told of the folder rather than of the address.
	var listenErr error
	addr, url := l.options.listen, ""
	if l.listener, listenErr = listen(addr, l.options.listenFlag); listenErr == nil {
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
		if l.metrics, err = listen(l.options.metrics, "--metrics"); err != nil {
			return err
		}
	}
	if l.options.tls.redirect != "" {
		l.redirect, err = listen(l.options.tls.redirect, "--redirect-listen")
	}
	return err
}

// advise logs what the operator should know at the start: that other machines reach a server which does not know its
// own URL, and what other users of this machine can read.
func (l *server) advise(exposed []health.Finding) {
	if addr := l.listener.Addr().(*net.TCPAddr); l.options.baseURL == "" && !addr.IP.IsLoopback() {
		l.log.Warn("other machines can reach this server, but its public URL is not set; set it with --base-url or "+l.options.baseURLVariable,
			"listen", addr.String(), "why", "links, default pictures and the issuer of licenses contain it")
	}
	l.adviseProfiles()
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
		return nil, cli.Fail(cli.ExitConflict, fault.Of(err).Code, fmt.Sprintf("%s is in use by another program; stop it, or choose another address with %s", addr, flag))
	case errors.Is(err, fs.ErrPermission):
		return nil, cli.Fail(cli.ExitNotAllowed, "address_refused", fmt.Sprintf("this user may not listen on %s; choose a port above 1023 with %s", addr, flag))
	}
	return nil, cli.Fail(cli.ExitFailed, "address_unusable", fmt.Sprintf("can't listen on %s (%v); choose another address with %s", addr, fault.FileReason(err), flag))
}

// serverLog is the log of a server, on stderr.
func (a *app) serverLog(mode web.LogMode) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.Quiet {
		options.Level = slog.LevelWarn
	}
	if mode == web.LogJSON {
		return slog.New(slog.NewJSONHandler(a.Err, options))
	}
	return slog.New(slog.NewTextHandler(a.Err, options))
}

// unlessDown is the error of a start, but nil for a PostgreSQL that is down and for a
// database that is to be migrated: both is done while the server runs.
func (l *server) unlessDown(at location, err error) error {
	if fault.HasCode(err, countersign.CodeMigrating) {
		l.log.Warn("the database is of an earlier version; it is backed up and migrated, and every request is answered 503 meanwhile")
		return nil
	}
	if at.url != "" && fault.IsUnavailable(err) && !fault.HasCode(err, sqldb.CodePooler) && !fault.HasCode(err, fault.CodeUpdateNeeded) {
		l.log.Warn("the database can't be used; every request is answered 503 until it can", "cause", err)
		return nil
	}
	return err
}

// close releases what the start acquired, also a start that failed.
func (l *server) close() {
	var err error
	if l.service != nil {
		err = l.service.Close()
	}
	for _, ln := range []net.Listener{l.listener, l.metrics, l.redirect} {
		if ln != nil {
			_ = ln.Close() // closed already, after a run
		}
	}
	if err != nil {
		l.log.Warn("the database was not closed cleanly", "cause", err)
	}
	l.lock.Unlock()
}

// address is where browsers reach the server.
func (l *server) address() string {
	if l.options.baseURL != "" {
		return l.options.baseURL
	}
	return l.url()
}

// newFrame creates the frame of a server's pages, with the reference of its API, at the address that --base-url names. It
// returns the path prefix of that.
func (l *server) newFrame(about frame.Options, openAPI []byte) (framed *frame.Frame, prefix string, err error) {
	base, err := url.Parse(l.options.baseURL)
	if err != nil {
		return nil, "", fmt.Errorf("the base URL: %w", err)
	}
	about.Log, about.Now, about.BasePath, about.Secure = l.log, l.app.Now, base.Path, base.Scheme == "https"
	if base.Host != "" {
		about.Origin = base.Scheme + "://" + base.Host
	}
	about.Documentation = frame.NewDocumentation(base.Path+about.DocsFolder, openAPI)
	framed, err = frame.New(about)
	return framed, base.Path, err
}

func (l *server) metricsURL() string {
	if l.metrics == nil {
		return ""
	}
	return urlOf(l.metrics) + "/metrics"
}

// urlOf is where a listener of plain HTTP can be reached from this machine.
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

// ending returns work whose end, wanted or not, stops the server.
func ending(stop func(), work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		defer stop()
		return work(ctx)
	}
}

// serve answers requests until ctx ends. The background work, by name, and the logs outlive the last request.
func (l *server) serve(ctx context.Context, handler http.Handler, behind map[string]func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()

	work := group.New(ctx, l.log)
	start := func(name string, run func() error) {
		work.Go(name, ending(stop, func(context.Context) error { return run() }))
	}
	for name, run := range behind {
		start(name, func() error { return run(background) })
	}
	start("access log", func() error {
		_ = l.access.Run(background) // an error log that can't be written has no place to say so
		return nil
	})
	start("memory", func() error {
		l.app.tuneMemory(background)
		return nil
	})
	for _, read := range l.readings {
		start("reading for metrics", func() error {
			read(background)
			return nil
		})
	}
	if l.metrics != nil {
		options := web.ServerOptions{Log: l.log, MaxConnections: metricsConnections}
		start("metrics", func() error { return web.Serve(ctx, l.metrics, l.metricsHandler(), options) })
	}
	if l.certificates != nil {
		start("certificates", func() error { return l.certificates.Run(background) })
	}
	if l.redirect != nil {
		start("redirects", func() error { return l.serveRedirects(ctx) })
	}
	served := web.Serve(ctx, l.listener, handler, web.ServerOptions{
		Log: l.log, Metrics: l.counted, TrustedProxies: l.options.proxies, ErrorBody: l.errorBody, TLS: l.tlsConfig(),
		IdleTimeout: l.options.idle,
	})
	end()
	if err := work.Wait(); err != nil {
		return err
	}
	if served != nil {
		return cli.Fail(cli.ExitFailed, "stopped_late", served.Error()+"; their clients have to repeat the requests")
	}
	return nil
}
