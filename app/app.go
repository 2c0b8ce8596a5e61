// Package app is what a mobile client does when it starts: it opens its license for the domain of its site (spec 5.7),
// and then reads the site's public settings (spec 4.5).
//
// An app carries its license and the key set of its store inside, so the first step needs no network and nobody can
// put in a key of their own.
package app

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/license"
)

// Options is what an app starts with. License, Keys and Site are required.
type Options struct {
	License string          // the text of the license file
	Keys    *license.KeySet // of the store that issued it
	Site    string          // the address of the site, like "https://shop.example"; a path is kept
	// Domain is what the license must be for; empty means the host of Site.
	Domain string
	// Revoked is the text of the store's revoked list as the app fetched it last, or empty. A list that is too old or
	// does not open counts as none.
	Revoked string
	// HTTP makes the request; its redirect policy is not used. Nil means http.DefaultTransport and a timeout of 10 s.
	HTTP *http.Client
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Started is what an app runs with.
type Started struct {
	License  license.License
	Domain   string // the license was opened for it; see [license.Normalize]
	Settings Settings
}

// Start verifies the license and reads the settings. A license that is not valid is a *license.Refusal, and nothing is
// read. If the settings can't be read, the error is a *countersign.Error of KindUnavailable; Started has the license
// then, and the app may continue with its last settings.
func Start(ctx context.Context, o Options) (Started, error) {
	site, err := parseSite(o.Site)
	if err != nil {
		return Started{}, err
	}
	s, err := o.open(site)
	if err != nil {
		return Started{}, err
	}
	s.Settings, err = readSettings(ctx, o.HTTP, site.JoinPath("api-addons/app/settings"))
	return s, err
}

// open is the part of the start that needs no network.
func (o Options) open(site *url.URL) (Started, error) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	at, host := now(), o.Domain
	if host == "" {
		host = site.Hostname()
	}
	l, err := license.Open(o.License, o.Keys, host, at)
	if err != nil {
		return Started{}, err
	}
	if o.Revoked != "" {
		if list, err := license.OpenRevoked(o.Revoked, o.Keys, at); err == nil && list.Has(l.ID) {
			return Started{}, license.ErrRevoked
		}
	}
	domain, err := license.Normalize(host)
	return Started{License: l, Domain: domain}, err
}

func parseSite(text string) (*url.URL, error) {
	site, err := url.Parse(text)
	if err != nil || site.Host == "" || site.Scheme != "https" && site.Scheme != "http" || site.RawQuery != "" || site.Fragment != "" || site.User != nil {
		return nil, &countersign.Error{
			Kind: countersign.KindInvalid, Code: "site_invalid",
			Message: "invalid address of a site: expected one like https://shop.example",
		}
	}
	return site, nil
}
