package pages_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestTheLicenseRulesOfAnItemChange(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		stale := b.Get(editPath).Form(editPath)
		b.Fill(rulesPath, rulesPath, "licensing.extended_domains", "5", "licensing.wildcard", "true", "licensing.staging_hosts", "Staging.*\r\n*.preview.example").LeadsTo(itemPath)
		if l := s.item(t, 1229).Licensing; l.ExtendedDomains != 5 || l.MovesAYear != 3 || !l.Wildcard || !slices.Equal(l.StagingHosts, []string{"staging.*", "*.preview.example"}) {
			t.Errorf("%+v", l)
		}
		b.Get(itemPath).Says("Extended 5", "staging.*, *.preview.example")
		for name, value := range map[string]string{"licensing.moves_a_year": "many", "licensing.regular_domains": "5000", "licensing.move_wait_hours": "-1", "licensing.staging_hosts": "*"} {
			if p := b.Fill(rulesPath, rulesPath, name, value).Status(http.StatusUnprocessableEntity); p.Form(rulesPath).Get(name) != value || len(p.Having("aria-invalid", "true")) != 1 {
				t.Errorf("%s: %q", name, p.Form(rulesPath).Get(name))
			}
		}
		b.PostForm(editPath, stale).LeadsTo(itemPath) // the rules are not on that form
		if !s.item(t, 1229).Licensing.Wildcard {
			t.Error("the other form has changed the rules")
		}
	})
}

func TestRulesThatSomebodyElseSavedFirstStay(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		form := b.Get(rulesPath).Form(rulesPath)
		s.as(t, "owner").Fill(rulesPath, rulesPath, "licensing.regular_domains", "7").Status(http.StatusSeeOther)
		form.Set("licensing.moves_a_year", "9")
		page := b.PostForm(rulesPath, form).Status(http.StatusPreconditionFailed).Says("somebody else saved first", "owner@shop.example")
		if rule := s.item(t, 1229).Licensing; rule.RegularDomains != 7 || rule.MovesAYear == 9 {
			t.Fatalf("%+v", rule)
		}
		b.PostForm(rulesPath, page.Form(rulesPath)).Status(http.StatusSeeOther)
		if rule := s.item(t, 1229).Licensing; rule.MovesAYear != 9 {
			t.Errorf("%+v", rule)
		}
	})
}
