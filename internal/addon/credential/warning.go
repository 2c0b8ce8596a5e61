package credential

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// metaDismissed is the name under which the database keeps which warning about API
// credentials was dismissed, as [Warning.state] names it.
const metaDismissed = "addon_api_dismissed"

// Warning is what keeps API credentials from working. Those that are
// deactivated as a whole, beside some that work, are not part of it.
type Warning struct {
	// Halves are the API credentials of which only the key or only the secret is active.
	Halves []Credential
	// NoneActive reports that no API credentials work.
	NoneActive bool
	// Dismissed reports that somebody dismissed the warning, and nothing of it changed since.
	Dismissed bool
}

// Any reports whether there is something to warn of, dismissed or not.
func (w Warning) Any() bool { return w.NoneActive || len(w.Halves) > 0 }

// Text says in a sentence what is wrong, "" for nothing.
func (w Warning) Text() string {
	if len(w.Halves) == 0 {
		return map[bool]string{true: "No active API credentials"}[w.NoneActive]
	}
	c, half := w.Halves[len(w.Halves)-1], HalfKey
	if c.KeyActive {
		half = HalfSecret
	}
	return fmt.Sprintf("The API %s of “%s” is inactive", half, c.Label)
}

// state names the warning, so that another one is not taken for it.
func (w Warning) state() string {
	var parts []string
	for _, c := range w.Halves {
		parts = append(parts, fmt.Sprintf("%d: key %t, secret %t", c.ID, c.KeyActive, c.SecretActive))
	}
	if w.NoneActive {
		parts = append(parts, "none active")
	}
	return strings.Join(parts, "; ")
}

func warningOf(list []addondb.Credential) Warning {
	w := Warning{NoneActive: true}
	for _, row := range list {
		switch c := credentialOf(row); {
		case c.Active():
			w.NoneActive = false
		case c.KeyActive || c.SecretActive:
			w.Halves = append(w.Halves, c)
		}
	}
	return w
}

// Warning returns what keeps API credentials from working.
func (s *Service) Warning(ctx context.Context, actor people.Actor) (Warning, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return Warning{}, err
	}
	list, err := s.db.Credentials(ctx)
	w := warningOf(list)
	if err != nil || !w.Any() {
		return w, err
	}
	dismissed, err := s.db.Meta(ctx, metaDismissed)
	w.Dismissed = dismissed == w.state()
	return w, err
}

// DismissWarning dismisses the warning about API credentials until its reason
// changes. Without a warning it is a conflict (credential_warning_none).
func (s *Service) DismissWarning(ctx context.Context, actor people.Actor) (Warning, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return Warning{}, err
	}
	var w Warning
	err := s.db.Tx(ctx, func(tx *addondb.DB) error {
		before, err := tx.LockMeta(ctx, metaDismissed)
		if err != nil {
			return err
		}
		list, err := tx.Credentials(ctx)
		if err != nil {
			return err
		}
		if w = warningOf(list); !w.Any() {
			return fault.Conflict("credential_warning_none", "No warning about API credentials is shown, so nothing was dismissed")
		}
		w.Dismissed = true
		if before == w.state() {
			return nil
		}
		if err := tx.SetMeta(ctx, metaDismissed, w.state()); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionCredentialDismiss, Detail: w.Text()})
	})
	return w, err
}

// endDismissal shows a dismissed warning again when it is no longer what the API
// credentials are warned of.
func endDismissal(ctx context.Context, tx *addondb.DB) error {
	dismissed, err := tx.LockMeta(ctx, metaDismissed)
	if err != nil || dismissed == "" {
		return err
	}
	list, err := tx.Credentials(ctx)
	if err != nil || warningOf(list).state() == dismissed {
		return err
	}
	return tx.SetMeta(ctx, metaDismissed, "")
}
