package iap

import (
	"context"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/health"
)

// CheckSetUp finds what is wrong with the published settings of in-app purchases.
func (s *Service) CheckSetUp(ctx context.Context) (health.Finding, error) {
	last, err := s.db.LastVersion(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	packages, err := s.db.Packages(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	v := ValuesOf(last.Settings.V)
	if !v.Enabled {
		return health.Finding{Level: health.OK, What: "In-app purchases are off"}, nil
	}
	problems := Problems(v, packages)
	if len(problems) == 0 {
		return health.Finding{Level: health.OK, What: "In-app purchases are on and set up"}, nil
	}
	one, why := problems[0], "In-app purchases are on; members may not be able to buy."
	if one.Code == input.CodeTestModeOn {
		why = "New purchases in the real store are not verified. Turn test mode off before real people buy."
	}
	return health.Finding{Level: health.Warn, What: one.Text, Why: why, Fix: one.Command()}, nil
}

// CheckNotifications finds out whether notifications of the store can be accepted.
func (s *Service) CheckNotifications(ctx context.Context) (health.Finding, error) {
	last, err := s.db.LastVersion(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	v := ValuesOf(last.Settings.V)
	found := health.Finding{Level: health.Warn, Why: "Notifications of the store do not arrive, so renewals and refunds are noticed late."}
	switch {
	case !v.Enabled:
		return health.Finding{Level: health.OK, What: "In-app purchases are off"}, nil
	case v.Sandbox:
		return health.Finding{Level: health.OK, What: "Test mode is on: the simulated store sends its own notifications"}, nil
	case v.PullSubscription != "" && v.Account == "":
		found.What, found.Fix = "No service account can pull notifications of the store", "countersign addon iap service-account FILE"
	case v.PullSubscription != "" && (v.PushServiceAccount == "" || v.PushAudience == ""):
		return health.Finding{Level: health.OK, What: "Notifications are pulled from " + v.PullSubscription}, nil
	case v.PullSubscription != "":
		return health.Finding{Level: health.OK, What: "Notifications are pulled from " + v.PullSubscription + ", and accepted from " + v.PushServiceAccount}, nil
	case v.PushServiceAccount == "":
		found.What, found.Fix = "The service account of the push subscription is not set", "countersign addon iap set "+KeyPushServiceAccount+" EMAIL"
	case v.PushAudience == "":
		found.What, found.Fix = "The audience of the push subscription is not set", "countersign addon iap set "+KeyPushAudience+" AUDIENCE"
	default:
		return health.Finding{Level: health.OK, What: "Notifications are accepted from " + v.PushServiceAccount}, nil
	}
	return found, nil
}

// CheckAccount finds out whether the published service account can be read.
func (s *Service) CheckAccount(ctx context.Context) (health.Finding, error) {
	last, err := s.db.LastVersion(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	all, err := ReadAccounts(ctx, s.db)
	if err != nil {
		return health.Finding{}, err
	}
	id := ValuesOf(last.Settings.V).Account
	switch {
	case id == "":
		return health.Finding{Level: health.OK, What: "No service account"}, nil
	case !s.usable(all, id):
		return health.Finding{
			Level: health.Fail, What: "The service account can't be read", Why: "Apps treat in-app purchases as off.",
			Fix: "countersign addon iap service-account FILE",
		}, nil
	}
	return health.Finding{Level: health.OK, What: "The service account can be read: " + all.Facts(id).ClientEmail}, nil
}
