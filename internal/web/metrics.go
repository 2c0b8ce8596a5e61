package web

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
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
	// broken are responses that were broken off, and requests that were refused, by their reason.
	broken *prometheus.CounterVec
	// listeners have the connections that are open.
	mu        sync.Mutex
	listeners []*slots
}

// NewMetrics creates the metrics; version is what countersign_build_info says.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_http_request_duration_seconds", Help: "Time from the request's header to the end of the response.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_http_refusals_total", Help: "Requests refused by a limit or a quota.",
		}, []string{"code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "countersign_http_in_flight", Help: "Requests in progress.",
		}),
	}
	m.evictions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_http_connections_closed_total", Help: "Connections closed because all were in use: silent ones, and new ones from an address that already has a quarter of them.",
	}, []string{"reason"})
	for _, why := range []reason{reasonSilent, reasonAddress, reasonRefused} {
		m.evictions.WithLabelValues(string(why))
	}
	m.broken = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_http_responses_broken_off_total", Help: "Requests of HTTP/2 broken off because their clients do not send them, responses broken off because their clients do not read them, and requests refused because nothing could make room for them.",
	}, []string{"reason"})
	for _, why := range []reason{reasonAddress, reasonAll, reasonRefused} {
		m.broken.WithLabelValues(string(why))
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "countersign_build_info", Help: "Always 1; the labels say which build runs.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	info.Set(1)
	m.addConnections()
	m.registry.MustRegister(m.requests, m.seconds, m.refusals, m.inFlight, m.evictions, m.broken, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics, on a listener of their own: they are not for the public.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *Metrics) observe(pattern, method string, status int, took time.Duration) {
	route := routeLabel(pattern)
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
	m.requests.WithLabelValues(route, methodLabel(method), strconv.Itoa(status)).Inc()
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
