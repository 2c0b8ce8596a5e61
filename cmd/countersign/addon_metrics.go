package main

import (
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/usage"
	"github.com/countersign/countersign/internal/web"
)

// addMetrics adds what the addon alone has.
func (s *addonServer) addMetrics(m *web.Metrics) {
	addUses(m, map[string]func() usage.Figures{"api_credentials": s.addon.Credentials.Uses, "app_requests": s.addon.AppRequests})
	figures := readEvery(&s.server, measure.Often, s.addon.Measure)
	addWebhooks(m, figures)
	addMembers(m, figures)
}

func addWebhooks(m *web.Metrics, figures *measure.Value[addon.Figures]) {
	m.Add(web.Metric{
		Name: "countersign_webhooks", Help: "Webhooks by their state, without those that somebody paused.", Labels: []string{"state"},
		Read: func() []web.Sample {
			f, known := figures.Last()
			if !known {
				return nil
			}
			w := f.Webhooks
			return []web.Sample{{Value: float64(w.Active), Labels: []string{"active"}}, {Value: float64(w.Failing), Labels: []string{"failing"}}, {Value: float64(w.Paused), Labels: []string{"paused"}}}
		},
	})
	addGauge(m, figures, "countersign_webhook_failing_seconds", "For how long all deliveries of a webhook have failed; the longest of all webhooks.",
		func(f addon.Figures) float64 { return f.Webhooks.FailingFor.Seconds() })
}

func addMembers(m *web.Metrics, figures *measure.Value[addon.Figures]) {
	m.Add(web.Metric{
		Name: "countersign_alerts_open", Help: "Open alerts about purchases and the app store, by their kind.", Labels: []string{"kind"},
		Read: func() (all []web.Sample) {
			f, known := figures.Last()
			for _, a := range f.Members.Alerts {
				if known {
					all = append(all, web.Sample{Value: float64(a.Count), Labels: []string{a.Kind}})
				}
			}
			return all
		},
	})
	addGauge(m, figures, "countersign_purchases_unacknowledged", "Purchases that the app store has not confirmed as acknowledged.",
		func(f addon.Figures) float64 { return float64(f.Members.Unacknowledged) })
	addGauge(m, figures, "countersign_purchases_unacknowledged_seconds", "For how long the first of them has waited. Google refunds it after three days.",
		func(f addon.Figures) float64 { return f.Members.UnacknowledgedFor.Seconds() })
}
