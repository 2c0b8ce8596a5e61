package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/usertoken"
)

// siteUsers is how many users of a site have a membership.
const siteUsers = 1000

// serveAddon starts an addon with published settings and waits until it is ready.
func (s *shop) serveAddon(ctx context.Context, _ ...string) (*process, error) {
	data := s.addonFlags()
	for _, args := range [][]string{
		{"addon", "update", "--quiet"},
		{"addon", "settings", "set", "appName", "Tuneful"},
		{"addon", "settings", "set", "messengerDomain", "chat.tuneful.example"},
		{"addon", "settings", "publish", "-m", "for the measurement"},
	} {
		if _, err := s.program(ctx, append(args, data...)...); err != nil {
			return nil, err
		}
	}
	return s.startAddon(ctx)
}

// startAddon starts the addon's server with more variables in its environment, and waits until
// it is ready.
func (s *shop) startAddon(ctx context.Context, env ...string) (*process, error) {
	args := append(append([]string{}, env...), s.binary, "addon", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet")
	return ready(start(ctx, "addon_url", nil, os.Stderr, "env", append(args, s.addonFlags()...)...))
}

// addonFlags say where the addon's data is: for verifications, in the database that is measured.
func (s *shop) addonFlags() []string {
	if s.settings.mode != modeVerify && s.settings.mode != modeOutage {
		return []string{"--data", filepath.Join(s.settings.out, "data-addon")}
	}
	flags := []string{"--data", filepath.Join(s.settings.out, "data-addon-"+s.settings.engine()+"-"+string(s.settings.mode[2:]))}
	if s.settings.database != "" {
		flags = append(flags, "--db", s.settings.database)
	}
	return flags
}

// credentials are those that the update made.
func (s *shop) credentials(ctx context.Context) (pair credential.Values, err error) {
	out, err := s.program(ctx, append([]string{"addon", "api", "reveal", "1", "--json"}, s.addonFlags()...)...)
	if err != nil {
		return pair, err
	}
	var printed struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	err = json.Unmarshal(out, &printed)
	return credential.Values{Key: printed.Key, Secret: printed.Secret}, err
}

// appHeaders are what the app of a user sends.
func appHeaders(pair credential.Values, user string) http.Header {
	token, _ := usertoken.Mint(credential.SiteTokenKey(pair), user, time.Now())
	return http.Header{"X-Api-Key": {pair.Key}, "Authorization": {"Bearer " + token}}
}

// readMemberships makes users with a membership. Its requests are those of their apps.
func (s *shop) readMemberships(ctx context.Context, address string) (func(*rand.Rand) request, error) {
	if err := s.addPackage(ctx); err != nil {
		return nil, err
	}
	pair, err := s.credentials(ctx)
	if err != nil {
		return nil, err
	}
	var all [siteUsers]request
	for i := range all {
		user := fmt.Sprintf("user-%d", i)
		if err := grant(ctx, address, pair, user); err != nil {
			return nil, err
		}
		header := appHeaders(pair, user)
		all[i] = request{
			bytes: fmt.Appendf(nil, "GET /api-addons/iap/membership HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: %s\r\nAuthorization: %s\r\n\r\n",
				header.Get("X-Api-Key"), header.Get("Authorization")),
			status: http.StatusOK, contains: []byte(`"source":"grant"`),
		}
	}
	return func(r *rand.Rand) request { return all[r.IntN(siteUsers)] }, nil
}

// addPackage adds the package of the memberships, unless an earlier run did.
func (s *shop) addPackage(ctx context.Context) error {
	list, err := s.program(ctx, append([]string{"addon", "package", "list", "--json"}, s.addonFlags()...)...)
	if err != nil || len(list) > 0 {
		return err
	}
	_, err = s.program(ctx, append([]string{"addon", "package", "add", "1", "Gold"}, s.addonFlags()...)...)
	return err
}

// grant grants a membership for good.
func grant(ctx context.Context, address string, pair credential.Values, user string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/api-addons/iap/users/"+user+"/grants", bytes.NewReader([]byte(`{"package_id":1,"reason":"for the measurement"}`)))
	if err != nil {
		return err
	}
	r.SetBasicAuth(pair.Key, pair.Secret)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("grant a membership: %s: %s", answer.Status, body)
	}
	return err
}
