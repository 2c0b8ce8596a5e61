package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

// flow is an app that uses the client in the manual. It buys at the addresses that the test serves.
const flow = `
import { Purchases, PurchaseError } from './purchases.mjs'
const [site, key] = process.argv.slice(2)
const get = async (path) => (await fetch(site + '/test/' + path)).text()
const renewals = [], pauses = [], report = {}
const token = (renew) => { renewals.push(renew); return get(renew || renewals.length > 1 ? 'token' : 'expired') }
const shop = new Purchases({ site, key, userToken: token, pause: async (seconds) => { pauses.push(seconds) } })

report.before = (await shop.membership()).status
report.renewals = renewals.join()
const { obfuscated_account_id } = await shop.intent()
const unpaid = await get('unpaid?account=' + obfuscated_account_id)
const first = await shop.verify(unpaid)
report.unpaid = [first.pending, first.membership.active].join()
const paid = await get('paid?account=' + obfuscated_account_id)
await get('outage')
const second = await shop.verify(paid)
report.paid = [second.pending, second.result, second.membership.status].join()
report.pauses = pauses.length
report.read = (await shop.membership()).active
report.again = (await shop.membership()).active
report.restored = (await shop.restore([paid, await get('theirs')])).results.map((r) => r.result ?? r.error.code).join()
report.refused = await shop.verify(await get('theirs')).catch((e) => e instanceof PurchaseError && [e.code, e.retryable].join())
await get('testmode')
report.simulated = (await shop.verify(await shop.buySimulated('gold_monthly'))).result
report.offline = await new Purchases({ site: 'http://127.0.0.1:1', key, userToken: token, pause: async () => {} }).membership().catch((e) => e.code)
console.log(JSON.stringify(report))
`

// The client that people copy out of the manual goes through a whole purchase, as it is printed there.
func TestTheManualsTypeScriptBuys(t *testing.T) {
	dbtest.NeedProgram(t, "node")
	dbtest.NeedProgram(t, compiler)
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		o := options()
		o.Now = s.clock.Now
		var statuses seen
		mux := http.NewServeMux()
		var out atomic.Bool
		mux.Handle("/api-addons/", statuses.by(outOnce(&out, api.New(s.Addon, o))))
		s.serveFlow(t, mux, &out)
		server := httptest.NewServer(mux)
		defer server.Close()
		var report map[string]any
		must.Do(t, json.Unmarshal(runManual(t, flow, server.URL, s.pair.Key), &report))
		for name, want := range map[string]any{
			"before": "none", "renewals": "false,true", "unpaid": "true,false", "paid": "false,created,active", "pauses": 1.0,
			"read": true, "again": true, "restored": "unchanged,owned_by_other_user", "refused": "owned_by_other_user,false", "offline": "offline", "simulated": "created",
		} {
			expect.Equalf(t, report[name], want, "%s", name)
		}
		if got, want := statuses.String(), "401 200 200 202 503 200 200 304 200 409 200 200"; got != want {
			t.Errorf("statuses %s, want %s", got, want)
		}
	})
}

// serveFlow serves what the flow needs besides the API: the site's tokens, and purchases.
func (s *seller) serveFlow(t *testing.T, mux *http.ServeMux, out *atomic.Bool) {
	text := func(pattern string, text func(r *http.Request) string) {
		mux.HandleFunc("GET /test/"+pattern, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(text(r))) })
	}
	bought := func(o playfake.BuyOptions) string {
		token, err := s.play.Buy(o)
		if err != nil {
			t.Error(err)
		}
		return token
	}
	theirs := s.buy(t, "8", playfake.BuyOptions{ProductID: "silver_monthly"})
	text("token", func(*http.Request) string { return s.siteToken("7", s.clock.Now()) })
	text("expired", func(*http.Request) string { return s.siteToken("7", s.clock.Now().Add(-time.Hour)) })
	text("unpaid", func(r *http.Request) string {
		return bought(playfake.BuyOptions{ProductID: "gold_monthly", Account: r.FormValue("account"), Pending: true})
	})
	text("paid", func(r *http.Request) string {
		return bought(playfake.BuyOptions{ProductID: "silver_monthly", Account: r.FormValue("account")})
	})
	text("theirs", func(*http.Request) string { return theirs })
	text("testmode", func(*http.Request) string { s.testMode(t); return "" })
	text("outage", func(*http.Request) string { out.Store(true); return "" })
}

// outOnce answers one request as while nothing can be verified.
func outOnce(out *atomic.Bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !out.Swap(false) {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status":"error","code":"store_unavailable","retryable":true}`))
	})
}

// seen notes the statuses of responses.
type seen struct {
	mu   sync.Mutex
	list []string
}

// by has the statuses of a handler noted.
func (s *seen) by(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		h.ServeHTTP(recorded, r)
		s.mu.Lock()
		s.list = append(s.list, strconv.Itoa(recorded.Code))
		s.mu.Unlock()
		maps.Copy(w.Header(), recorded.Header())
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	})
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.list, " ")
}

// compiler is that of TypeScript, which make installs for the tests in a browser.
const compiler = "../../../e2e/node_modules/.bin/tsc"

// manualBlocks are the blocks of a language in the manual.
func manualBlocks(t *testing.T, language string) (blocks []string) {
	t.Helper()
	manual := must.Get(os.ReadFile("../../../docs/iap.md"))(t)
	for part := range strings.SplitSeq(string(manual), "\n```"+language+"\n") {
		block, _, _ := strings.Cut(part, "\n```\n")
		blocks = append(blocks, block+"\n")
	}
	return blocks[1:]
}

// shopScope is what the manual's example of a shop has around it.
const shopScope = `
import { Purchases } from './purchases.mjs'
declare function purchase(product: string, account: string): Promise<string>
declare function tokenFromMySite(renew: boolean): Promise<string>
declare function show(text: string): void
`

// runManual compiles the TypeScript of the manual as strictly as the compiler can, and runs a program beside it.
func runManual(t *testing.T, program string, arguments ...string) []byte {
	t.Helper()
	blocks, dir := manualBlocks(t, "ts"), t.TempDir()
	for name, text := range map[string]string{"purchases.mts": blocks[0], "shop.mts": shopScope + blocks[1], "flow.mjs": program} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	compiler := must.Get(filepath.Abs(compiler))(t)
	tsc := exec.CommandContext(t.Context(), compiler, "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess",
		"--target", "es2022", "--module", "nodenext", "purchases.mts", "shop.mts")
	tsc.Dir = dir
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	node := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(dir, "flow.mjs")}, arguments...)...)
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	return out
}
