package web

// addConnections adds the connections of all listeners to the metrics.
func (m *Metrics) addConnections() {
	m.Add(Metric{
		Name: "countersign_http_connections", Labels: []string{"state"},
		Help: "Open connections: working on a complete request, or silent.",
		Read: func() []Sample {
			working, silent, _ := m.connections()
			return []Sample{{float64(working), []string{"working"}}, {float64(silent), []string{"silent"}}}
		},
	})
	m.Gauge("countersign_http_connections_limit", "Connections that may be open at once.", func() float64 {
		_, _, limit := m.connections()
		return float64(limit)
	})
	m.Gauge("countersign_http2_requests", "Requests of HTTP/2 whose responses were not sent to the end.", func() float64 { return float64(m.held().requests) })
	m.Gauge("countersign_http_unsent_bytes", "Bytes of large responses that wait to be sent.", func() float64 { return float64(m.held().bytes) })
}

// held is what the responses of all listeners hold.
func (m *Metrics) held() (all load) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.listeners {
		all = all.plus(s.deliveries.held())
	}
	return all
}

// watch counts the connections of a listener.
func (m *Metrics) watch(s *slots) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, s)
}

// connections counts those of all listeners.
func (m *Metrics) connections() (working, silent, limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.listeners {
		w, all := s.count()
		working, silent, limit = working+w, silent+all-w, limit+s.limit
	}
	return working, silent, limit
}
