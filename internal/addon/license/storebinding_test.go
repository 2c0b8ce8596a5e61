package license_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

// stranger is a server that keeps all that it is sent, and answers like no store.
type stranger struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sent = append(s.sent, r.Method+" "+r.URL.Path+" "+string(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stranger) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.sent, "\n")
}

func TestAKeptCodeIsSentToItsOwnStoreAlone(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s, evil := addontest.NewLicenseStore(t), newStranger(t)
		l := f.MustMake(t, s.Order())[0]
		asked := s.Asked()
		_, err := f.Licenses.Make(t.Context(), user, license.Order{Store: evil.URL, Kept: l.Code.ID, Domain: "site.example"})
		apiErr, ok := err.(*countersign.Error)
		if !ok || apiErr.Code != "code_of_other_store" || apiErr.Kind != countersign.KindInvalid || !strings.Contains(apiErr.Fields["code"], s.URL) || !strings.Contains(apiErr.Fields["code"], evil.URL) {
			t.Errorf("%v", err)
		}
		if evil.got() != "" || s.Asked() != asked {
			t.Errorf("sent: %s", evil.got())
		}
		if known := mustKnow(t, f); known.Store != s.URL || len(known.Codes) != 1 {
			t.Errorf("%+v", known)
		}
		for name, store := range map[string]string{"no address": "", "its own": s.URL, "its own with a slash": s.URL + "/", "in capitals": strings.ToUpper(s.URL[:4]) + s.URL[4:]} {
			if _, err := f.Licenses.Make(t.Context(), user, license.Order{Store: store, Kept: l.Code.ID, Domain: "site.example"}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Earlier versions kept the address of a store as it was typed.
func TestACodeThatAnEarlierVersionKeptIsUsedAtItsStore(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		typed := "HTTP" + strings.TrimPrefix(s.URL, "http")
		must.Get(f.Licenses.DB().Exec(t.Context(), `UPDATE purchase_codes SET store = $1`, typed))(t)
		must.Do(t, f.Licenses.DB().SetMeta(t.Context(), license.MetaStore, typed))
		known := mustKnow(t, f)
		if known.Store != s.URL || known.Codes[0].Store != s.URL {
			t.Errorf("the form begins with %s, the code is for %s", known.Store, known.Codes[0].Store)
		}
		if _, err := f.Licenses.Make(t.Context(), user, license.Order{Store: known.Store, Kept: l.Code.ID, Domain: "site.example"}); err != nil {
			t.Error(err)
		}
		if f.MustMake(t, s.Order()); len(mustKnow(t, f).Codes) != 1 {
			t.Error("the code is kept twice")
		}
	})
}

// The site's address may have become another one meanwhile.
func TestMovesChecksAndRevocationsGoToTheCodesOwnStore(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s, evil := addontest.NewLicenseStore(t), newStranger(t)
		l := f.MustMake(t, s.Order())[0]
		must.Do(t, f.Licenses.SetStore(t.Context(), operator, evil.URL, ""))
		if _, err := f.Licenses.Check(t.Context(), user, l.ID); err != nil {
			t.Error(err)
		}
		moved := must.Get(f.Licenses.Move(t.Context(), user, l.Code.ID, "site.example", "new.example"))(t)
		if _, err := f.Licenses.Revoke(t.Context(), user, moved.ID); err != nil {
			t.Error(err)
		}
		expect.Equalf(t, evil.got(), "", "sent")
		if known := mustKnow(t, f); known.Store != evil.URL {
			t.Errorf("a move changed the site's address to %s", known.Store)
		}
	})
}

func TestOneCodeIsKeptForEachStore(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		one, two := addontest.NewLicenseStore(t), addontest.NewLicenseStore(t)
		first, second := f.MustMake(t, one.Order())[0], f.MustMake(t, two.Order())[0]
		known := mustKnow(t, f)
		if len(known.Codes) != 2 || known.Store != two.URL || known.Kept(addontest.PurchaseCode, one.URL) != first.Code.ID || known.Kept(addontest.PurchaseCode, two.URL) != second.Code.ID {
			t.Fatalf("%+v", known)
		}
		// Both stores gave their license the same name.
		if first.LicenseID != second.LicenseID || first.ID == second.ID || first.Code == second.Code {
			t.Errorf("%+v\n%+v", first, second)
		}
		must.Get(f.Licenses.Revoke(t.Context(), user, first.ID))(t)
		if l, _, err := f.Licenses.Find(t.Context(), user, second.ID); err != nil || !l.Good() || two.InUse["site.example"] == "" {
			t.Errorf("the other store's license is %+v, %v", l, err)
		}
	})
}

func TestTheStoresAddressIsSavedOnceItHasAnsweredForTheCode(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, c := range []struct {
			what    string
			prepare func(*addontest.LicenseStore, *license.Order)
			saved   bool
		}{
			{"nothing that a store says", func(s *addontest.LicenseStore, _ *license.Order) { s.Body = "<html>" }, false},
			{"a fault", func(s *addontest.LicenseStore, _ *license.Order) { s.Status = http.StatusBadGateway }, false},
			{"a code that it does not know", func(_ *addontest.LicenseStore, o *license.Order) { o.Code = badCode }, false},
			{"too many questions", func(s *addontest.LicenseStore, _ *license.Order) { s.Refuse = countersign.CodeRateLimited }, false},
			{"a domain that it refuses", func(s *addontest.LicenseStore, _ *license.Order) { s.Refuse = countersign.CodeDomainInvalid }, false},
			{"a file for another domain", func(s *addontest.LicenseStore, _ *license.Order) { s.Other = "evil.example" }, false},
			{"no domain left", func(s *addontest.LicenseStore, _ *license.Order) { s.Refuse = countersign.CodeLimitReached }, true},
			{"a file", func(*addontest.LicenseStore, *license.Order) {}, true},
		} {
			s := addontest.NewLicenseStore(t)
			o, before := s.Order(), mustKnow(t, f).Store
			c.prepare(s, &o)
			_, _ = f.Licenses.Make(t.Context(), user, o)
			if now := mustKnow(t, f).Store; (now == s.URL) != c.saved || (!c.saved && now != before) {
				t.Errorf("%s: the address is %s", c.what, now)
			}
		}
	})
}

func TestChangingTheAddressAloneNeedsThePassword(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		const password, address = "four quiet green words", "https://store.example"
		admin := must.Get(f.Instance.People.CreateAdministrator(t.Context(), operator, "ana@site.example", password))(t)
		ana := people.Actor{Kind: people.KindUser, ID: admin.Email, User: admin.ID, Administrator: true, FrontEnd: people.FrontEndPage, Addr: client}
		for _, wrong := range []string{"", "four quiet green birds"} {
			if err := f.Licenses.SetStore(t.Context(), ana, address, wrong); addontest.CodeOf(err) != "password_wrong" || mustKnow(t, f).Store != "" {
				t.Errorf("with %q: %v", wrong, err)
			}
		}
		if err := f.Licenses.SetStore(t.Context(), ana, "store", password); addontest.CodeOf(err) != "license_order" {
			t.Error(err)
		}
		if err := f.Licenses.SetStore(t.Context(), ana, address+"/", password); err != nil || mustKnow(t, f).Store != address {
			t.Errorf("%v", err)
		}
		if err := f.Licenses.SetStore(t.Context(), operator, "https://other.example", ""); err != nil {
			t.Error(err) // who has the data folder has everything in it
		}
	})
}

// Whoever may type an address must not learn what is there.
func TestEveryFailureToReachAStoreIsWordedAlike(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		answers := func(h http.HandlerFunc) string {
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			return s.URL
		}
		write := func(status int, body string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, body) }
		}
		tls := httptest.NewUnstartedServer(http.NotFoundHandler())
		tls.Config.ErrorLog = nil
		tls.StartTLS()
		t.Cleanup(tls.Close)
		silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { _ = silent.Close() })
		go func() {
			for {
				c, err := silent.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
		for name, store := range map[string]string{
			"a closed port": closed.URL, "a refused private address": "http://10.0.0.1", "cloud metadata": "http://169.254.169.254", "the other loopback": "http://[::1]:1",
			"a name that nobody has": "https://nobody.invalid", "a certificate that nobody trusts": tls.URL, "a connection that is closed": "http://" + silent.Addr().String(),
			"http where https is spoken": strings.Replace(tls.URL, "https", "http", 1), "https where http is spoken": strings.Replace(answers(write(200, "")), "http", "https", 1),
			"a page": answers(write(200, "<html>")), "another JSON service": answers(write(200, `{"hello":"world"}`)), "a success with nothing in it": answers(write(200, `{"status":"success"}`)),
			"an error of another service": answers(write(403, `{"status":"error","msg":"You may not"}`)), "a limit of another service": answers(write(429, `{"error":"slow down"}`)),
			"another path": answers(write(404, "")), "a fault": answers(write(502, "")), "an unavailable service": answers(write(503, `{"status":"error","msg":"Service unavailable"}`)),
			"an answer that is far too long": answers(write(200, strings.Repeat(" ", 2<<20))),
			"a redirect":                     answers(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) }),
		} {
			f.Log.Reset()
			_, err := f.Licenses.Make(t.Context(), user, license.Order{Store: store, Code: addontest.PurchaseCode, Domain: "site.example"})
			apiErr, ok := err.(*countersign.Error)
			if !ok {
				t.Errorf("%s: %v", name, err)
				continue
			}
			want := "The store at " + store + " can't be reached right now. Nothing is lost: the purchase code is stored for this address. Check the address, or try again in a few minutes"
			if apiErr.Code != "store_unreachable" || apiErr.Kind != countersign.KindUnavailable || apiErr.Message != want || apiErr.Cause != nil || apiErr.Fields != nil || apiErr.Data != nil || apiErr.RetryAfter != 0 {
				t.Errorf("%s is told apart: %+v", name, apiErr)
			}
			if log := f.Log.String(); !strings.Contains(log, "cause=") || strings.Contains(log, addontest.PurchaseCode) {
				t.Errorf("%s: the log says %s", name, log)
			}
		}
	})
}

func TestWhatIsEchoedByAStrangerIsNotLogged(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		for body, cause := range map[string]string{
			"<p>You sent " + strings.ToUpper(addontest.PurchaseCode):                        "HTTP 200, not JSON from a store",
			`{"status":"error","msg":"No ` + strings.ToUpper(addontest.PurchaseCode) + `"}`: "HTTP 200, not an error of a store",
		} {
			f.Log.Reset()
			s.Body = body
			if _, err := f.Licenses.Make(t.Context(), user, s.Order()); addontest.CodeOf(err) != "store_unreachable" {
				t.Error(err)
			}
			if log := f.Log.String(); strings.Contains(strings.ToLower(log), addontest.PurchaseCode) || !strings.Contains(log, cause) {
				t.Errorf("the log says %s", log)
			}
		}
	})
}

// Nothing is sent to a private address that was not allowed: the first connection
// that the listener gets is the test's own.
func TestNothingIsSentToAPrivateAddress(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.SQLite)
	a := must.Get(addon.Open(t.Context(), addon.Options{Options: instance.Options{Dir: at.Dir, HashCost: people.TestCost}}))(t)
	t.Cleanup(func() { _ = a.Close() })
	must.Get(a.Setup.Update(t.Context(), operator, nil))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	if _, err := a.Licenses.Make(t.Context(), user, license.Order{Store: "http://" + l.Addr().String(), Code: addontest.PurchaseCode, Domain: "site.example"}); addontest.CodeOf(err) != "store_unreachable" {
		t.Error(err)
	}
	own := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer own.Close()
	first := must.Get(l.Accept())(t)
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Errorf("a connection came from %s", first.RemoteAddr())
	}
}
