package web

import "github.com/prometheus/client_golang/prometheus"

// Metric is a metric that is read whenever the metrics are.
type Metric struct {
	Name, Help string
	// Counter says that its values only grow.
	Counter bool
	// Labels are the names of its labels. Their values are few, and not what a client chose.
	Labels []string
	// Read returns the values. It must not wait for a database or a disk. A value that is not known at present is left
	// out: an old one would look like news.
	Read func() []Sample
}

// Sample is a value of a metric, with the values of its labels.
type Sample struct {
	Value  float64
	Labels []string
}

// Known returns one sample without labels, or none for a value that is not known.
func Known(value float64, known bool) []Sample {
	if !known {
		return nil
	}
	return []Sample{{Value: value}}
}

// Add adds a metric.
func (m *Metrics) Add(one Metric) {
	kind := prometheus.GaugeValue
	if one.Counter {
		kind = prometheus.CounterValue
	}
	m.registry.MustRegister(&collector{one.Read, kind, prometheus.NewDesc(one.Name, one.Help, one.Labels, nil)})
}

// Gauge adds a metric without labels that goes up and down.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.Add(Metric{Name: name, Help: help, Read: func() []Sample { return Known(value(), true) }})
}

// Counter adds a metric without labels that only grows.
func (m *Metrics) Counter(name, help string, value func() float64) {
	m.Add(Metric{Name: name, Help: help, Counter: true, Read: func() []Sample { return Known(value(), true) }})
}

// collector reads one metric.
type collector struct {
	read func() []Sample
	kind prometheus.ValueType
	desc *prometheus.Desc
}

// Describe is that of [prometheus.Collector].
func (c *collector) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect is that of [prometheus.Collector].
func (c *collector) Collect(to chan<- prometheus.Metric) {
	for _, s := range c.read() {
		to <- prometheus.MustNewConstMetric(c.desc, c.kind, s.Value, s.Labels...)
	}
}
