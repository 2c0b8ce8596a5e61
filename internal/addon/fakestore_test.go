package addon_test

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
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/license"
)

// fakeStore answers as a store does, with one purchase that may have one
// domain beside test domains.
type fakeStore struct {
	*httptest.Server
	key   license.SigningKey
	mu    sync.Mutex
	inUse map[string]string // license ids by domain
	// What it does instead of its work.
	status int    // answers this status with nothing in it
	refuse string // refuses with this code
	body   string // answers this
	other  string // signs for this domain, whatever was asked
	answer string // to checks
	older  bool   // revokes by the domain alone
	count  int    // of requests
	issued int    // licenses
}

func newFakeStore(t *testing.T) *fakeStore {
	t.Helper()
	key, err := license.NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeStore{key: key, inUse: map[string]string{}, answer: countersign.CheckValid}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *fakeStore) serve(w http.ResponseWriter, r *http.Request) {
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
	case s.status != 0:
		w.WriteHeader(s.status)
	case s.body != "":
		fmt.Fprint(w, s.body)
	case r.URL.Path == "/.well-known/jwks.json":
		set, _ := license.NewKeySet(s.key.Public())
		text, _ := set.MarshalJSON()
		_, _ = w.Write(text)
	case r.URL.Path == "/api/licenses/check":
		fmt.Fprintf(w, `{"status":"success","data":{"valid":%t,"code":%q}}`, s.answer == countersign.CheckValid, s.answer)
	case in["purchase_code"] != goodCode:
		refuse(http.StatusNotFound, countersign.CodePurchaseNotFound, "Invalid purchase code")
	case s.refuse != "":
		refuse(http.StatusConflict, s.refuse, "Refused for "+in["purchase_code"])
	case r.URL.Path == "/api/licenses/revoke":
		id := s.inUse[in["domain"]]
		if in["license_id"] != id && !s.older {
			refuse(http.StatusConflict, countersign.CodeDomainNotActivated, "This license is not in use")
			return
		}
		fmt.Fprintf(w, `{"status":"success","data":{"license_id":%q,"domain":%q,"revoked_at":"2026-11-01T00:00:00Z"}}`, id, in["domain"])
		delete(s.inUse, in["domain"])
	default:
		if r.URL.Path == "/api/licenses/move" {
			delete(s.inUse, in["from"])
		}
		if taken := s.counted(); s.inUse[in["domain"]] == "" && len(taken) > 0 && !license.IsFree(in["domain"]) {
			refuse(http.StatusConflict, countersign.CodeLimitReached, "All domains of this purchase code are licensed; licensed: "+taken[0])
			return
		}
		s.issue(w, in["domain"])
	}
}

// asked is how often the store was asked.
func (s *fakeStore) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *fakeStore) counted() []string {
	var all []string
	for domain := range s.inUse {
		if !license.IsFree(domain) {
			all = append(all, domain)
		}
	}
	return all
}

func (s *fakeStore) issue(w http.ResponseWriter, domain string) {
	if s.inUse[domain] == "" {
		s.issued++
		s.inUse[domain] = fmt.Sprintf("license-%d-%s", s.issued, domain)
	}
	named := domain
	if s.other != "" {
		named = s.other
	}
	text, err := license.Sign(license.License{
		ID: s.inUse[domain], Issuer: s.URL, IssuedAt: noon, NotBefore: noon.Add(-time.Hour), ItemID: 7, ItemName: "Rain", LicenseType: "Regular",
		Purchase: strings.Repeat("ab", 16), Domain: named, Domains: []string{named}, SupportedUntil: countersign.At(noon.AddDate(1, 0, 0)),
	}, s.key)
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]string{"license": text, "license_id": s.inUse[domain]}})
}

// order is one that the store grants.
func (s *fakeStore) order() addon.LicenseOrder {
	return addon.LicenseOrder{Store: s.URL + "/", Code: " " + goodCode + " ", Domain: "https://www.Site.example/app"}
}
