package addon

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Doctor looks for what is wrong with the addon. It works in every state and
// without [Addon.Prepare]; a check that fails is itself a finding.
func (a *Addon) Doctor(ctx context.Context) []health.Finding { return a.diagnose(ctx, false) }

// Health is a Doctor that reads no whole file, for pages.
func (a *Addon) Health(ctx context.Context) []health.Finding { return a.diagnose(ctx, true) }

func (a *Addon) diagnose(ctx context.Context, quick bool) []health.Finding {
	at := a.healthLocation()
	at.Quick = quick
	findings, ok := health.Common(ctx, a.database, at, DatabaseName)
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
	findings = append(findings, health.UnusedKeyFile(a.location, a.key.Box())...)
	findings = append(findings, a.examine(ctx, "update", a.checkUpdate), a.examine(ctx, "administrator", a.checkAdministrator),
		a.examine(ctx, "API credentials", a.checkPairs), a.examine(ctx, "app settings", a.checkPublished))
	findings = append(findings, a.examine(ctx, "in-app purchases", a.IAP.CheckSetUp), a.examine(ctx, "service account", a.IAP.CheckAccount), a.examine(ctx, "webhooks", a.Events.CheckWebhooks),
		a.examine(ctx, "store notifications", a.IAP.CheckNotifications))
	findings = append(findings, a.checkPlayURL()...)
	report, err := a.chain.VerifyNewest(ctx, doctor, people.NewestAudits)
	return append(findings, health.Audit(report, err, a.now(), "countersign addon audit verify"))
}

// doctor is who looks: it may read everything and writes nothing.
var doctor = people.Operator("doctor")

// Exposed finds a data folder and a key file that other users of the machine can read.
func (a *Addon) Exposed() []health.Finding { return health.Exposed(a.healthLocation()) }

func (a *Addon) healthLocation() health.Location {
	return health.LocationOf(a.location, "countersign addon update", a.now())
}

// examine runs one check; one that can't be made is a finding.
func (a *Addon) examine(ctx context.Context, name string, check func(context.Context) (health.Finding, error)) health.Finding {
	found, err := check(ctx)
	if err != nil {
		return health.Of(name, err, "This could not be checked.", "Correct the cause, then check again.")
	}
	found.Name = name
	return found
}

func (a *Addon) checkUpdate(ctx context.Context) (health.Finding, error) {
	plan, err := a.plan(ctx)
	if err != nil || plan.Nothing {
		return health.Finding{Level: health.OK, What: "The update of this version has run"}, err
	}
	return health.Finding{
		Level: health.Warn, What: fmt.Sprintf("An update is available (%s)", count(len(plan.Steps), "step")),
		Why: "New settings of this version are not registered.", Fix: "countersign addon update",
	}, nil
}

func (a *Addon) checkAdministrator(ctx context.Context) (health.Finding, error) {
	there, err := a.people.HasAdministrator(ctx)
	if err != nil || there {
		return health.Finding{Level: health.OK, What: "An administrator exists"}, err
	}
	return health.Finding{
		Level: health.Warn, What: "No administrator yet", Why: "Nobody can sign in to the admin pages.", Fix: "countersign addon setup-link",
	}, nil
}

func (a *Addon) checkPairs(ctx context.Context) (health.Finding, error) {
	rows, err := a.db.Credentials(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	for _, c := range rows {
		if _, err := a.openCredentials(c); err != nil {
			return health.Finding{
				Level: health.Fail, What: fmt.Sprintf("The values of %d (%s) can't be read with this key file", c.ID, c.Label),
				Why: "Calls with these API credentials are refused.", Fix: fmt.Sprintf("countersign addon api rotate %d", c.ID),
			}, nil
		}
	}
	list := sqldb.Convert(rows, credentialOf)
	var inactive []string
	active, first := 0, int64(0)
	for _, c := range list {
		if !c.Active() && first == 0 {
			first = c.ID
		}
		switch {
		case c.Active():
			active++
		case !c.KeyActive && !c.SecretActive:
			inactive = append(inactive, fmt.Sprintf("%d (%s): key and secret", c.ID, c.Label))
		case !c.KeyActive:
			inactive = append(inactive, fmt.Sprintf("%d (%s): key", c.ID, c.Label))
		default:
			inactive = append(inactive, fmt.Sprintf("%d (%s): secret", c.ID, c.Label))
		}
	}
	found := health.Finding{Level: health.OK, What: "All API credentials are active"}
	if len(inactive) > 0 {
		found = health.Finding{
			Level: health.Warn, What: "Inactive: " + strings.Join(inactive, "; "),
			Why: "The API key and the API secret must both be active before you go live.", Fix: fmt.Sprintf("countersign addon api activate %d", first),
		}
	}
	if active == 0 {
		found.Level = health.Fail
		if len(inactive) == 0 {
			found.What, found.Why, found.Fix = "No API credentials", "The app's server calls are refused.", "countersign addon update"
		}
	}
	return found, nil
}

// checkPlayURL reports an address that replaces those of Google Play.
func (a *Addon) checkPlayURL() []health.Finding {
	at := a.options.PlayURL
	if at == "" {
		return nil
	}
	return []health.Finding{{
		Name: "app store", Level: health.Warn, What: "Google Play is replaced by " + at,
		Why: "Purchases count that this address confirms.", Fix: "Unset COUNTERSIGN_PLAY_URL to ask Google, unless the address is a proxy of yours",
	}}
}

func (a *Addon) checkPublished(ctx context.Context) (health.Finding, error) {
	p, err := a.Settings.Published(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	draft, err := a.Settings.Draft(ctx, doctor)
	if err != nil {
		return health.Finding{}, err
	}
	for _, one := range draft.Problems {
		if one.Severity == settings.SeverityError {
			return health.Finding{
				Level: health.Warn, What: "The draft can't be published: " + one.Key + ": " + one.Text,
				Why: "Apps receive the current version until then.", Fix: one.Command(),
			}, nil
		}
	}
	return health.Finding{Level: health.OK, What: fmt.Sprintf("Apps receive version %d of the settings", p.Version)}, nil
}
