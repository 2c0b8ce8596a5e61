package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// The client of a site and this API understand each other, over real HTTP.
func TestTheGoClientOfASite(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		o := options()
		server := httptest.NewServer(http.StripPrefix("/shop", api.New(s.Addon, o)))
		defer server.Close()
		c := &countersign.AddonClient{BaseURL: server.URL + "/shop", Key: s.pair.Key, Secret: s.pair.Secret, Now: now, Retries: -1}
		asked := must.Get(c.UserToken(t.Context(), "Müşik ♪"))(t)
		signed := must.Get(c.SignUserToken("Müşik ♪"))(t)
		for _, token := range []countersign.UserToken{asked, signed} {
			user, err := s.Credentials.AppUser(t.Context(), netip.IPv6Loopback(), s.pair.Key, token.Token)
			if err != nil || user.ID != "Müşik ♪" || !user.Expires.Equal(token.ExpiresAt.Time) {
				t.Errorf("%+v, %v", user, err)
			}
		}
		var refused *countersign.Error
		if _, err := c.UserToken(t.Context(), " 7"); !errors.As(err, &refused) || refused.Kind != countersign.KindInvalid || refused.Code != "invalid_request" {
			t.Errorf("a wrong id: %v", err)
		}
		c.Secret = s.pair.Key
		if _, err := c.UserToken(t.Context(), "7"); !errors.As(err, &refused) || refused.Kind != countersign.KindUnauthorized || refused.Code != "unauthorized" {
			t.Errorf("a wrong secret: %v", err)
		}
	})
}
