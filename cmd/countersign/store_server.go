package main

import (
	"context"
	"net/http"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/usage"
	"github.com/countersign/countersign/internal/web"
	"github.com/spf13/cobra"
)

func newServe(a *app) *cobra.Command {
	var flags serverFlags
	c := &cobra.Command{
		Use: "serve", Short: "Serve the store's API and pages", Args: cli.Args(),
		Long: `Serve the store's API and pages, until Ctrl-C or SIGTERM.

Only one server may run on a data folder. Other commands can run at the same time; their
changes take effect within a second. Older tables are backed up and migrated.

Until the first administrator exists, it prints a link to create one. Or set
` + envStoreAdminEmail + ` and ` + envStoreAdminPassword + `_FILE to create the
administrator without a link.`,
		Example: `  countersign store serve
  countersign store serve --request-log 7d,1000000
  countersign store serve --listen :8080 --base-url https://shop.example --trusted-proxy 10.0.0.0/8`,
		RunE: func(c *cobra.Command, _ []string) error {
			at, o, err := flags.located(a, c, storeLocation)
			if err != nil {
				return err
			}
			return a.serveStore(c.Context(), at, o)
		},
	}
	flags.register(c, storeLocation)
	c.Flags().Lookup("fail-limit").Usage = "failed authentications and validations of an address a minute; 0 for no limit, also for requests by purchase code"
	c.Flags().StringVar(&flags.cache, "cache", defaultCache, "`size` of the response cache, like 64MiB; 0 turns it off")
	c.Flags().StringVar(&flags.quota, "upload-quota", defaultQuota, "`size` of the uploaded files of a workspace at most, like 20GiB; 0 for any size")
	c.Flags().String("request-log", defaultRequestLog, "how long to keep the log of API requests, like 30d; with a number of calls like 30d,10000000; or off ("+envRequestLog+")")
	return c
}

func (a *app) serveStore(ctx context.Context, at location, o serverOptions) error {
	s := storeServer{server: a.newServer(o)}
	defer s.close()
	if err := s.open(ctx, at); err != nil {
		return err
	}
	setup, err := s.welcome.atOnce(ctx)
	if err != nil {
		return err
	}
	if err := s.announce(at, servedView{StoreURL: s.url(), SetupURL: setup}); err != nil {
		return err
	}
	s.welcome.say(setup)
	return s.run(ctx)
}

type storeServer struct {
	server
	store   *store.Store
	welcome welcome
}

// open opens everything that can fail at the start.
func (s *storeServer) open(ctx context.Context, at location) (err error) {
	if err := s.server.open(ctx, storeLocation, at); err != nil {
		return err
	}
	progress := s.app.newProgress("migrating", func(percent, total int64) {
		s.log.Info("the database is being migrated", "percent", percent, "purchases", total)
	})
	s.store, err = store.Open(ctx, s.app.storeOptions(at, s.log, store.Options{Options: instance.Options{Lock: s.lock, Progress: progress.tell}, CacheBytes: s.options.cache, UploadQuota: s.options.quota, RequestLog: s.options.keep}))
	if err != nil {
		return err
	}
	s.service, s.instance = s.store, s.store.Instance
	s.welcome = welcome{server: &s.server, of: storeLocation, newLink: s.instance.People.SetupLink}
	return s.prepare(ctx, at, s.store.BeginToServe, s.store.PrepareToServe)
}

// run serves the JSON API, with the pages behind it, until ctx ends.
func (s *storeServer) run(ctx context.Context) error {
	guesses := limit.NewGuesses(limit.Options{Failures: s.options.failLimit, Name: s.store.LimitName, Now: s.app.Now})
	s.store.ShareLimits(ctx, guesses)
	limits := web.NewRateLimits(guesses)
	framed, base, err := s.newFrame(pages.FrameOptions(s.store), api.OpenAPI)
	if err != nil {
		return err
	}
	o := api.Options{
		BaseURL: s.options.baseURL, Limits: limits, TrustedProxies: s.options.proxies,
		Pages: func(console http.Handler) http.Handler {
			return pages.New(pages.Options{Store: s.store, Frame: framed, Limits: limits, BaseURL: s.options.baseURL, API: console})
		},
		Log: s.log, Access: s.access, Now: s.app.Now, Metrics: s.newMetrics(),
	}
	if o.Metrics != nil {
		s.addMetrics(o.Metrics)
	}
	return s.serve(ctx, frame.StripBase(base, api.New(s.store, o)), map[string]func(context.Context) error{"service": s.store.Run, "first administrator": s.welcome.later})
}

// addMetrics adds what the store alone has.
func (s *storeServer) addMetrics(m *web.Metrics) {
	addRequestLog(m, s.store.Requests)
	addUses(m, map[string]func() usage.Figures{"keys": s.store.Validation.Uses})
	m.Counter("countersign_damage_total", "Purchases found by the digest of another code: the database is damaged.",
		func() float64 { return float64(s.store.Validation.Damages()) })
	media := readEvery(&s.server, measure.Seldom, func(ctx context.Context) (bool, error) { return s.store.Media.Bucket().Check(ctx) == nil, nil })
	addGauge(m, media, "countersign_media_writable", "0 if uploaded files could not be written the last time; tried every ten minutes.", oneIf)
	m.Gauge("countersign_limits_alone", "1 while the counts of limits can't be exchanged with other servers and with the database.",
		func() float64 { return oneIf(s.store.LimitsAlone()) })
}

// addRequestLog adds the figures of the log of API requests to the metrics.
func addRequestLog(m *web.Metrics, log *requests.Log) {
	m.Counter("countersign_request_log_written_total", "API requests written to the log.", func() float64 { return float64(log.Written()) })
	m.Counter("countersign_request_log_dropped_total", "API requests that could not be logged.", func() float64 { return float64(log.Dropped()) })
	m.Gauge("countersign_request_log_waiting", "API requests that wait to be logged; from 16,384 on they are dropped.", func() float64 { return float64(log.Waiting()) })
	m.Gauge("countersign_request_log_failing", "1 while the log of API requests can't be written.", func() float64 { return oneIf(log.Failing() != nil) })
}
