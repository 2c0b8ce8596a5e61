package addon

import (
	"context"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
)

// Doctor looks for what is wrong with the addon. It works in every state and
// without [Addon.Prepare]; a check that fails is itself a finding.
func (a *Addon) Doctor(ctx context.Context) []health.Finding { return a.diagnose(ctx, false) }

// Health is a Doctor that reads no whole file, for pages.
func (a *Addon) Health(ctx context.Context) []health.Finding { return a.diagnose(ctx, true) }

func (a *Addon) diagnose(ctx context.Context, quick bool) []health.Finding {
	findings, at, ok := a.Instance.Examine(ctx, quick)
	if !ok {
		return findings
	}
	if err := a.Prepare(ctx); err != nil {
		fix := health.KeyFileFix(err, at) // an update does not help against a wrong key file
		if fault.HasCode(err, fault.CodeUpdateNeeded) {
			fix = at.Migrate
		}
		return append(findings, health.Of("set-up", err, "Apps get no settings and nobody can sign in.", fix))
	}
	findings = append(findings, health.UnusedKeyFile(a.Instance.Location, a.access.Box())...)
	for _, one := range []struct {
		name  string
		check func(context.Context) (health.Finding, error)
	}{
		{"update", a.Setup.CheckUpdate}, {"administrator", a.Setup.CheckAdministrator}, {"API credentials", a.Credentials.Check},
		{"app settings", a.Settings.CheckPublished}, {"in-app purchases", a.IAP.CheckSetUp}, {"service account", a.IAP.CheckAccount},
		{"webhooks", a.Events.CheckWebhooks}, {"store notifications", a.IAP.CheckNotifications},
	} {
		findings = append(findings, examine(ctx, one.name, one.check))
	}
	findings = append(findings, a.Members.CheckPlayURL()...)
	return append(findings, a.Instance.ExamineAudit(ctx, a.access.Box()))
}

// examine runs one check; one that can't be made is a finding.
func examine(ctx context.Context, name string, check func(context.Context) (health.Finding, error)) health.Finding {
	found, err := check(ctx)
	if err != nil {
		return health.Of(name, err, "This could not be checked.", "Correct the cause, then check again.")
	}
	found.Name = name
	return found
}
