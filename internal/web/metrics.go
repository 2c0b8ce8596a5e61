package web

import (
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts and times requests on a Prometheus registry of its own.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	inFlight prometheus.Gauge
	// evictions are connections that were closed for want of slots, by their reason.
	evictions *prometheus.CounterVec

	mu     sync.Mutex // of those who add to routes
	routes atomic.Pointer[map[string]*routeMetrics]
}

// routeMetrics holds the metrics of one pattern, so that no request has to look them up by their labels.
type routeMetrics struct {
	route    string
	seconds  prometheus.Observer
	requests atomic.Pointer[map[methodStatus]prometheus.Counter]
}

type methodStatus struct {
	method string
	status int
}

// NewMetrics makes the metrics; version is what countersign_build_info says.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_http_request_duration_seconds", Help: "Time from the request's header to the end of the answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_http_refusals_total", Help: "Requests refused by a limit or a quota.",
		}, []string{"code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "countersign_http_in_flight", Help: "Requests being answered.",
		}),
	}
	m.evictions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_http_connections_closed_total", Help: "Silent connections closed to make room for others.",
	}, []string{"reason"})
	for _, why := range []reason{reasonSilent, reasonAddress} {
		m.evictions.WithLabelValues(string(why))
	}
	m.routes.Store(&map[string]*routeMetrics{})
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "countersign_build_info", Help: "Always 1; the labels say which build runs.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	info.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.refusals, m.inFlight, m.evictions, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Registry returns the registry, for what else is worth counting.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// AddCounter adds a counter whose value something else keeps.
func (m *Metrics) AddCounter(name, help string, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(value()) }))
}

// Handler serves the metrics, on a listener of their own: they are not for the public.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *Metrics) observe(pattern, method string, status int, took time.Duration) {
	r := (*m.routes.Load())[pattern]
	if r == nil {
		r = m.addRoute(pattern)
	}
	r.seconds.Observe(took.Seconds())
	key := methodStatus{methodLabel(method), status}
	c := (*r.requests.Load())[key]
	if c == nil {
		c = m.addCounter(r, key)
	}
	c.Inc()
}

func (m *Metrics) addRoute(pattern string) *routeMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.routes.Load()
	if r := old[pattern]; r != nil {
		return r
	}
	route := routeLabel(pattern)
	r := &routeMetrics{route: route, seconds: m.seconds.WithLabelValues(route)}
	r.requests.Store(&map[methodStatus]prometheus.Counter{})
	all := maps.Clone(old)
	all[pattern] = r
	m.routes.Store(&all)
	return r
}

func (m *Metrics) addCounter(r *routeMetrics, key methodStatus) prometheus.Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *r.requests.Load()
	if c := old[key]; c != nil {
		return c
	}
	c := m.requests.WithLabelValues(r.route, key.method, strconv.Itoa(key.status))
	all := maps.Clone(old)
	all[key] = c
	r.requests.Store(&all)
	return c
}

// routeLabel returns the path of a pattern; patterns are few, URLs are not.
func routeLabel(pattern string) string {
	if pattern == "" {
		return unmatched
	}
	return pattern[strings.IndexByte(pattern, ' ')+1:]
}

// methodLabel returns the method, or one word for all that nobody has heard of.
func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
		return method
	}
	return "other"
}
