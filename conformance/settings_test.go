package conformance

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
)

const otherMap = `{"store":{"silver_monthly":1,"gold_monthly":1}}`

// Settings while purchases go on.
var settingsCases = []conformance{
	{name: "of two administrators who change the same setting, the second is told, and nothing changes", rule: "6.3", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		_, header, err := s.send("GET", "admin/app/settings", "", s.server(), nil)
		s.check(err)
		seen := header.Get("ETag")
		change := func(value string) (int, error) {
			h := s.server()
			h["If-Match"], h["Content-Type"] = seen, "application/json"
			status, _, err := s.send("POST", "admin/app/settings", `{"settings":{"`+iap.KeyProductMap+`":`+value+`}}`, h, nil)
			return status, err
		}
		first, errFirst := change(otherMap)
		second, errSecond := change(`{"store":{"silver_monthly":2}}`)
		s.check(errFirst)
		s.check(errSecond)
		if first != 200 || second != 412 {
			s.t.Errorf("%d, then %d", first, second)
		}
		s.verified("7", token) // the draft is not published
		s.want("7", "active Gold")
	}},
	{name: "settings that are restored count for the next purchase, and for no earlier one", rule: "6.3", run: func(s *site) {
		s.bought("7", purchase{product: gold})
		s.set(map[string]string{iap.KeyProductMap: otherMap})
		s.bought("8", purchase{product: gold})
		s.want("8", "active Silver")
		s.want("7", "active Gold")
		versions, err := s.Settings.Versions(s.t.Context(), operator, 0, 0)
		s.check(err)
		_, err = s.Settings.Rollback(s.t.Context(), operator, versions[1].Number, "Back")
		s.check(err)
		s.bought("9", purchase{product: gold})
		s.want("9", "active Gold")
	}},
	{name: "a product that leaves the map stays with those who have it", rule: "1.3", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.set(map[string]string{iap.KeyProductMap: `{"store":{"silver_monthly":1}}`})
		s.renew("7", token)
		s.want("7", "active Gold")
		s.refused("8", s.buy("8", purchase{product: gold}), 422, "product_not_mapped")
	}},
	{name: "while the shop is closed, nothing is sold and renewals go on", rule: "6.4 iap_disabled", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.set(map[string]string{iap.KeyEnabled: "0"})
		s.refused("8", s.buy("", purchase{product: gold}), 403, "iap_disabled")
		s.renew("7", token)
		s.want("7", "active Gold")
	}},
	{name: "a first update that is killed is completed by the next one, and the site sells", rule: "migration interrupted", run: updateKilled},
}

// setServiceAccount publishes another service account.
func (s *site) setServiceAccount(file []byte) {
	s.t.Helper()
	_, err := s.Settings.Set(s.t.Context(), operator, settings.Edit{}, map[string]string{iap.KeyServiceAccount: string(bytes.TrimSpace(file))})
	s.check(err)
	_, err = s.Settings.Publish(s.t.Context(), operator, 0, "Another key")
	s.check(err)
}

// updateKilled kills updates of a new addon at several points.
func updateKilled(s *site) {
	t := s.t
	at := dbtest.New(t, s.at.Engine)
	for _, point := range []int{2, 4, 6} {
		if dbtest.Killed(t, at, stepUpdate+" "+strconv.Itoa(point)) {
			t.Fatalf("the update has fewer points than %d", point)
		}
	}
	a, err := openAddon(at, s.google, s.clock.Now)
	s.check(err)
	_, err = a.Setup.Update(t.Context(), operator, nil)
	s.check(err)
	s.check(setUp(t.Context(), a, s.play.serviceAccount()))
	s.check(a.Close())
	s.at = at
	s.open()
	s.bought("7", purchase{product: gold})
	s.want("7", "active Gold")
	if plan, err := s.Setup.Plan(t.Context(), operator); err != nil || !plan.Nothing {
		t.Error(fmt.Errorf("there is something left to do: %+v, %w", plan, err))
	}
}
