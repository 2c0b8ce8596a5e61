package pages

import (
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/frame"
)

// banner is what every page says first: what is wrong with API credentials, else that test mode
// is on.
func banner(r *frame.Request, a *addon.Addon) frame.Banner {
	if b := credentialsBanner(r, a); b.Title != "" {
		return b
	}
	published, err := a.IAP.Published(r.Context())
	if err != nil || !published.Config.SandboxEnabled { // of an error, the page itself says what is wrong
		return frame.Banner{}
	}
	return frame.Banner{
		Kind: frame.Warning, Title: "Test mode is on", Text: "The simulated store answers the app. New purchases in the real store are not verified.",
		Action: frame.Link{Label: "Simulated store", Path: pathSimulator},
	}
}
