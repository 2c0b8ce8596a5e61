package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	sitelicense "github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

const purchaseCode = "7c0f3b1e-5d2a-4c44-9b1e-2f6c0a1d8e37"

// licenseStore is a fake store that sold one purchase, for one domain beside
// test domains. Once refuse is set it refuses everything with that code.
type licenseStore struct {
	*httptest.Server
	key    license.SigningKey
	mu     sync.Mutex
	domain string // that is in use
	refuse string
	// noTests refuses test domains, as if too many were in use.
	noTests bool
	down    bool   // answers 502
	answer  string // to checks
}

func newLicenseStore(t *testing.T) *licenseStore {
	t.Helper()
	key := must.Get(license.NewSigningKey())(t)
	s := &licenseStore{key: key, answer: countersign.CheckValid}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *licenseStore) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var in map[string]string
	_ = json.NewDecoder(r.Body).Decode(&in)
	refuse := func(status int, code string) {
		w.Header().Set("X-Error-Code", code)
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"status":"error","msg":"The store refuses: %s","data":{"domains":[%[2]q],"licenses":[{"domain":%[2]q,"issued_at":"2026-05-03T09:00:00Z"}]}}`, code, s.domain)
	}
	free := license.IsFree(in["domain"])
	switch {
	case s.down:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/.well-known/jwks.json":
		set, _ := license.NewKeySet(s.key.Public())
		_ = json.NewEncoder(w).Encode(set)
	case r.URL.Path == "/api/licenses/check":
		fmt.Fprintf(w, `{"status":"success","data":{"valid":%t,"code":%q}}`, s.answer == countersign.CheckValid, s.answer)
	case in["purchase_code"] != purchaseCode:
		refuse(http.StatusNotFound, countersign.CodePurchaseNotFound)
	case s.refuse != "":
		refuse(http.StatusConflict, s.refuse)
	case r.URL.Path == "/api/licenses" && free && s.noTests:
		refuse(http.StatusConflict, countersign.CodeLimitReached)
	case r.URL.Path == "/api/licenses" && !free && s.domain != "" && s.domain != in["domain"]:
		refuse(http.StatusConflict, countersign.CodeLimitReached)
	case r.URL.Path == "/api/licenses/revoke":
		if !free {
			s.domain = ""
		}
		fmt.Fprintf(w, `{"status":"success","data":{"license_id":"of-%[1]s","domain":%[1]q,"revoked_at":"2026-11-01T00:00:00Z"}}`, in["domain"])
	default:
		if !free {
			s.domain = in["domain"]
		}
		s.issue(w, in["domain"])
	}
}

func (s *licenseStore) issue(w http.ResponseWriter, domain string) {
	at := time.Date(2026, 5, 3, 9, 0, 0, 0, time.UTC)
	text, err := license.Sign(license.License{
		ID: "of-" + domain, Issuer: s.URL, IssuedAt: at, ItemID: 1229, ItemName: "Rain Kit", LicenseType: "Regular",
		Purchase: strings.Repeat("ab", 16), Domain: domain, Domains: []string{domain}, SupportedUntil: countersign.At(at.AddDate(1, 0, 0)),
	}, s.key)
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]string{"license": text, "license_id": "of-" + domain}})
}

// mustLicense creates the site's first license file.
func (s *site) mustLicense(t *testing.T, from *licenseStore, domain string, tests ...string) sitelicense.License {
	t.Helper()
	made := must.Get(s.Licenses.Make(t.Context(), operator, sitelicense.Order{Store: from.URL, Code: purchaseCode, Domain: domain, Tests: tests}))(t)
	return made[0]
}
