package play_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// problems returns the names of the checks that failed, joined by commas.
func problems(t *testing.T, checks []play.Check) string {
	t.Helper()
	if len(checks) != 6 {
		t.Fatalf("%d checks, want 6: %+v", len(checks), checks)
	}
	var names []string
	for _, c := range checks {
		if c.OK != (c.Problem == "") || c.OK && c.Err != nil {
			t.Errorf("the check is %+v", c)
		}
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ",")
}

func TestTheCheckNamesWhatIsMissing(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(s *playfake.Store, o *play.Options)
		want  string // the checks that fail
		text  string // in the first problem
	}{
		{"all is well", func(*playfake.Store, *play.Options) {}, "", ""},
		{"another package", func(_ *playfake.Store, o *play.Options) { o.Package = "com.example.other" }, "package,voided,products", "package name"},
		{"an API that is off", func(s *playfake.Store, _ *play.Options) { s.Fail(1, 403, "accessNotConfigured") }, "api,package,voided,products", "APIs and services"},
		{"no access to purchases", func(s *playfake.Store, _ *play.Options) { s.Deny(playfake.PartPurchases, true) }, "package", "36 hours"},
		{"no financial permission", func(s *playfake.Store, _ *play.Options) { s.Deny(playfake.PartVoided, true) }, "voided", "financial data"},
		{"no access to the products", func(s *playfake.Store, _ *play.Options) { s.Deny(playfake.PartProducts, true) }, "products", "app information"},
		{"an outage", func(s *playfake.Store, _ *play.Options) { s.Fail(1, 503, "backendError") }, "package", "try again"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			o := optionsOf(t, s)
			test.spoil(s, &o)
			checks := openWith(t, o).Check(t.Context())
			if got := problems(t, checks); got != test.want {
				t.Fatalf("these checks failed: %q, want %q: %+v", got, test.want, checks)
			}
			for _, c := range checks {
				if !c.OK {
					if !strings.Contains(c.Problem, test.text) {
						t.Errorf("%q does not contain %q", c.Problem, test.text)
					}
					break
				}
			}
		})
	}
}

func TestACheckWithoutAnAccessTokenEndsThere(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	o.ServiceAccount = withMembers(t, o.ServiceAccount, map[string]string{"client_email": "deleted@simulated.iam.gserviceaccount.com"})
	checks := openWith(t, o).Check(t.Context())
	expect.Equalf(t, problems(t, checks), "token,api,package,voided,products", "these checks failed")
	wantReason(t, checks[1].Err, play.Unauthorized)
	expect.Equalf(t, s.TotalCalls("/androidpublisher"), 0, "calls without an access token")
}
