package main

import (
	"context"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/web"
)

// addonServer is an addon with its listeners, the only one on its data folder.
type addonServer struct {
	listeners
	addon *addon.Addon
	flag  string // the one that names the address
	// updateNeeded tells that the update of this version has not run.
	updateNeeded bool
}

// newAddonServer opens everything that can fail at the start. flag is the one that
// names the address.
func (a *app) newAddonServer(ctx context.Context, p place, o serverOptions, flag string) (*addonServer, error) {
	s := &addonServer{listeners: a.newListeners(o), flag: flag}
	if err := s.open(ctx, p); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *addonServer) open(ctx context.Context, p place) error {
	if err := s.listen(p.dir, s.flag); err != nil {
		return err
	}
	options := s.app.addonOptions(p, s.log)
	options.Lock = s.lock
	var err error
	options.AllowPrivate = s.options.allowPrivate
	if s.addon, err = addon.Open(ctx, options); err != nil {
		return err
	}
	if s.options.acceptLoss {
		err = s.addon.AcceptLoss(ctx, operator())
	} else {
		err = s.addon.PrepareToServe(ctx)
	}
	s.updateNeeded = fault.HasCode(err, fault.CodeUpdateNeeded)
	if err = s.unlessDown(p, err); err != nil && !s.updateNeeded {
		return err
	}
	s.advise(s.addon.Exposed(), addonVariables)
	return nil
}

// welcome makes the first administrator from the environment, or the link by which
// somebody becomes that. The link is empty when there is an administrator, or when
// the environment names one for after the update.
func (s *addonServer) welcome(ctx context.Context) (link string, err error) {
	switch {
	case s.addon.State() == addon.StateReady:
		if _, err := s.app.firstAdministrator(ctx, s.addon); err != nil {
			return "", err
		}
	case !s.updateNeeded:
		return "", nil // the database is down
	default:
		if email, _, err := s.app.environmentAdministrator(); email != "" || err != nil {
			return "", err
		}
	}
	token, _, err := s.addon.NewSetupLink(ctx, operator())
	if fault.HasCode(err, "already_set_up") {
		return "", nil
	}
	return setupLink(s.address(), token), err
}

// close gives back what open took.
func (s *addonServer) close() {
	var err error
	if s.addon != nil {
		err = s.addon.Close()
	}
	s.closeListeners(err)
}

// run serves until ctx ends.
func (s *addonServer) run(ctx context.Context) error {
	access := web.NewAccessLog(s.app.term.err, s.options.log)
	site, metrics, err := s.handlers(access)
	if err != nil {
		return err
	}
	return s.serve(ctx, access, site, metrics, service{"addon", s.addon.Run}, service{"first administrator", s.makeAdministrator})
}

// makeAdministrator makes the administrator that the environment names as soon as
// the addon is set up, and lasts until ctx ends.
func (s *addonServer) makeAdministrator(ctx context.Context) error {
	for done := s.app.getenv(envAdminEmail) == ""; !done; {
		if !group.Sleep(ctx, 500*time.Millisecond, nil) {
			return nil
		}
		if s.addon.State() != addon.StateReady {
			continue
		}
		_, err := s.app.firstAdministrator(ctx, s.addon)
		done = !fault.IsUnavailable(err)
		if err != nil && done && ctx.Err() == nil {
			s.log.Error("the administrator of "+envAdminEmail+" was not made", "cause", err)
		}
	}
	<-ctx.Done()
	return nil
}

// handlers are what the two listeners serve: the site, which is the JSON face with
// the pages behind it, and the metrics, nil without a listener.
func (s *addonServer) handlers(access *web.AccessLog) (site, metrics http.Handler, err error) {
	about := pages.FrameOptions(s.addon)
	base, err := s.ownAddress(&about)
	if err != nil {
		return nil, nil, err
	}
	framed, err := frame.New(about)
	if err != nil {
		return nil, nil, err
	}
	o := api.Options{
		BaseURL: s.options.baseURL, FailLimit: s.options.failLimit, TrustedProxies: s.options.proxies,
		Pages: pages.New(pages.Options{Addon: s.addon, Frame: framed}), Visitor: framed.Visitor,
		Log: s.log, Access: access, Now: s.app.now,
	}
	if o.Metrics, metrics = s.newMetrics(); o.Metrics != nil {
		addDatabase(o.Metrics, s.addon.DatabaseStatus)
	}
	return frame.StripBase(base, api.New(s.addon, o)), metrics, nil
}
