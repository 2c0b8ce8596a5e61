package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/events"
	addonsample "github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/addon/simulator"
)

// demoSite receives the events of the demo's addon, as the site of its owner does.
type demoSite struct{ listener net.Listener }

func newDemoSite(ctx context.Context) (demoSite, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	return demoSite{l}, err
}

// run serves until ctx ends.
func (d demoSite) run(ctx context.Context) error {
	mux := http.NewServeMux()
	for _, w := range addonsample.NewDemo().Webhooks {
		status := http.StatusNoContent
		if w.Down {
			status = http.StatusServiceUnavailable
		}
		mux.HandleFunc("POST "+w.Path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// connect sets the address of the site in the demo's webhooks, and adds those that are missing from an addon without
// webhooks.
func (d demoSite) connect(ctx context.Context, s *addon.Addon) error {
	there, err := s.Events.Webhooks(ctx, operator())
	if err != nil {
		return err
	}
	for _, one := range addonsample.NewDemo().Webhooks {
		address := urlOf(d.listener) + one.Path
		i := slices.IndexFunc(there, func(w events.Webhook) bool {
			at, err := url.Parse(w.URL)
			return err == nil && at.Path == one.Path
		})
		switch {
		case i >= 0:
			_, err = s.Events.EditWebhook(ctx, operator(), there[i].ID, events.WebhookChange{URL: &address})
		case len(there) == 0:
			_, _, err = s.Events.AddWebhook(ctx, operator(), address, typesOf(one.Types))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fillMembers lets the demo's members buy, unless somebody has bought.
func fillMembers(ctx context.Context, s *addon.Addon) error {
	bought, _, err := s.Simulator.Purchases(ctx, operator())
	if err != nil || len(bought) > 0 {
		return err
	}
	d := addonsample.NewDemo()
	for _, m := range d.Members {
		step, err := s.Simulator.Buy(ctx, operator(), simulator.Order{User: m.User, Product: m.Product})
		for _, act := range m.Acts {
			if err == nil {
				_, err = s.Simulator.Do(ctx, operator(), step.Purchase.Ref, simulator.Act(act))
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = s.Members.AddGrant(ctx, operator(), d.Grant.User, d.Grant.Package, time.Time{}, d.Grant.Reason)
	return err
}
