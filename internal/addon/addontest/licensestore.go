package addontest

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
	"github.com/countersign/countersign/license"
)

// PurchaseCode is the one that a [LicenseStore] knows.
const PurchaseCode = "7c0f3b1e-5d2a-4c44-9b1e-2f6c0a1d8e37"

// LicenseStore answers as a store does, with one purchase that may have one
// domain beside test domains.
type LicenseStore struct {
	*httptest.Server
	key   license.SigningKey
	mu    sync.Mutex
	InUse map[string]string // license ids by domain
	// What it does instead of its work.
	Status int    // answers this status with nothing in it
	Refuse string // refuses with this code
	Body   string // answers this
	Other  string // signs for this domain, whatever was asked
	Answer string // to checks
	Older  bool   // revokes by the domain alone
	count  int    // of requests
	issued int    // licenses
}

// NewLicenseStore serves one until the test ends.
func NewLicenseStore(t *testing.T) *LicenseStore {
	t.Helper()
	key, err := license.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &LicenseStore{key: key, InUse: map[string]string{}, Answer: countersign.CheckValid}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *LicenseStore) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	var in map[string]string
	_ = json.NewDecoder(r.Body).Decode(&in)
	refuse := func(status int, code, message string) {
		w.Header().Set("X-Error-Code", code)
		if code == countersign.CodeMovesUsed {
			w.Header().Set("Retry-After", "3600")
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "error", "msg": message, "data": map[string]any{"domains": s.counted()}})
	}
	switch {
	case s.Status != 0:
		w.WriteHeader(s.Status)
	case s.Body != "":
		fmt.Fprint(w, s.Body)
	case r.URL.Path == "/.well-known/jwks.json":
		set, _ := license.NewKeySet(s.key.Public())
		text, _ := set.MarshalJSON()
		_, _ = w.Write(text)
	case r.URL.Path == "/api/licenses/check":
		fmt.Fprintf(w, `{"status":"success","data":{"valid":%t,"code":%q}}`, s.Answer == countersign.CheckValid, s.Answer)
	case in["purchase_code"] != PurchaseCode:
		refuse(http.StatusNotFound, countersign.CodePurchaseNotFound, "Invalid purchase code")
	case s.Refuse != "":
		refuse(http.StatusConflict, s.Refuse, "Refused for "+in["purchase_code"])
	case r.URL.Path == "/api/licenses/revoke":
		id := s.InUse[in["domain"]]
		if in["license_id"] != id && !s.Older {
			refuse(http.StatusConflict, countersign.CodeDomainNotActivated, "This license is not in use")
			return
		}
		fmt.Fprintf(w, `{"status":"success","data":{"license_id":%q,"domain":%q,"revoked_at":"2026-11-01T00:00:00Z"}}`, id, in["domain"])
		delete(s.InUse, in["domain"])
	default:
		if r.URL.Path == "/api/licenses/move" {
			delete(s.InUse, in["from"])
		}
		if taken := s.counted(); s.InUse[in["domain"]] == "" && len(taken) > 0 && !license.IsFree(in["domain"]) {
			refuse(http.StatusConflict, countersign.CodeLimitReached, "All domains of this purchase code are licensed; licensed: "+taken[0])
			return
		}
		s.issue(w, in["domain"])
	}
}

// Asked is how often the store was asked.
func (s *LicenseStore) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *LicenseStore) counted() []string {
	var all []string
	for domain := range s.InUse {
		if !license.IsFree(domain) {
			all = append(all, domain)
		}
	}
	return all
}

func (s *LicenseStore) issue(w http.ResponseWriter, domain string) {
	if s.InUse[domain] == "" {
		s.issued++
		s.InUse[domain] = fmt.Sprintf("license-%d-%s", s.issued, domain)
	}
	named := domain
	if s.Other != "" {
		named = s.Other
	}
	text, err := license.Sign(license.License{
		ID: s.InUse[domain], Issuer: s.URL, IssuedAt: Noon, NotBefore: Noon.Add(-time.Hour), ItemID: 7, ItemName: "Rain", LicenseType: "Regular",
		Purchase: strings.Repeat("ab", 16), Domain: named, Domains: []string{named}, SupportedUntil: countersign.At(Noon.AddDate(1, 0, 0)),
	}, s.key)
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]string{"license": text, "license_id": s.InUse[domain]}})
}

// Order is one that the store grants.
func (s *LicenseStore) Order() sitelicense.Order {
	return sitelicense.Order{Store: s.URL + "/", Code: " " + PurchaseCode + " ", Domain: "https://www.Site.example/app"}
}

// MustMake gets the license files of an order.
func (f *Fixture) MustMake(t testing.TB, o sitelicense.Order) []sitelicense.License {
	t.Helper()
	made, err := f.Licenses.Make(t.Context(), User, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
