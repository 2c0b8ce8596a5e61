package countersign_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// fence is a fenced block of a page. The words after its language say what a
// test does with it:
//
//	```sh                  is run, in the order of the page
//	```sh not-run          changes a machine, or needs another one: its commands are only looked up
//	```sh needs=php        is run where that program is installed
//	```json output         is what the block before it prints; "…" stands for anything
//	```jsonl file=a.jsonl  is a file that the reader writes
//	```nginx               is the configuration of a web server, in front of the server started last
//	```ini drop-in         is added to the unit of the store's service
type fence struct {
	language string
	words    []string
	text     string
}

func (f fence) has(word string) bool { return f.value(word) != "" }

// value returns "a" for the word "name=a", the word itself for "name", "" without it.
func (f fence) value(name string) string {
	for _, w := range f.words {
		if w == name {
			return w
		}
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}

var fenced = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

func fences(t *testing.T, page string) (all []fence) {
	t.Helper()
	for _, m := range fenced.FindAllStringSubmatch(readText(t, page), -1) {
		words := append(strings.Fields(m[1]), "")
		all = append(all, fence{language: words[0], words: words[1:], text: m[2]})
	}
	return all
}

// Everything that a page tells its reader to type is typed here, in the page's order.
func TestTheBlocksOfEveryManualWork(t *testing.T) {
	t.Parallel()
	dbtest.Long(t)
	dbtest.NeedProgram(t, "sh")
	dbtest.NeedProgram(t, "curl")
	programs := newPrograms(t)
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			newReader(t, page, programs).follow(fences(t, page))
		})
	}
}

// throughProxy finds a request to a site that a web server of the page has.
var throughProxy = regexp.MustCompile(`curl [^\n]*https://(site|shop)\.example`)

// follow does what the blocks of a page say.
func (r *reader) follow(blocks []fence) {
	for _, b := range blocks {
		if name := b.value("file"); name != "" {
			r.write(name, b.text)
		}
		switch {
		case b.has("output"):
			r.compare(b)
		case b.language == "sh" && b.has("not-run"):
			r.lookUp(b.text)
		case b.language == "sh":
			if r.outside == nil && throughProxy.MatchString(b.text) {
				return // the web server is not installed, which its own subtest says
			}
			r.runWith(b.value("needs"), b.text)
		case proxies[b.language].program != "":
			r.proxy(b)
		case b.language == "ini":
			r.checkDropIn(b)
		}
	}
}

// Who has only README.md gets a validated code, a store with a key and a signed license,
// and an addon behind nginx with a signed-in administrator.
func TestREADMEAloneIsEnough(t *testing.T) {
	t.Parallel()
	dbtest.Long(t)
	dbtest.NeedProgram(t, "sh")
	dbtest.NeedProgram(t, "curl")
	r := newReader(t, "README.md", newPrograms(t))
	r.follow(fences(t, "README.md"))
	r.checkLicense()
	if r.outside != nil {
		r.signIn()
	}
}

// checkLicense opens the license file with the key set of the reader's store.
func (r *reader) checkLicense() {
	r.t.Helper()
	status, keys := r.get(r.addresses[storePort] + "/.well-known/jwks.json")
	if status != 200 {
		r.t.Fatalf("the key set: %d", status)
	}
	r.write("jwks.json", keys)
	r.shell(`countersign app start --license license.jwt --jwks jwks.json --domain shop.example --site "$SITE" `, "SITE="+r.addresses[addonPort])
}

// signIn opens the link that the addon printed, through the proxy, and creates the administrator.
func (r *reader) signIn() {
	r.t.Helper()
	address, token, found := strings.Cut(r.setup, "/admincp/setup#")
	if !found {
		r.t.Fatalf("the addon printed the link %q", r.setup)
	}
	b := webtest.NewBrowser(r.t, address, "")
	b.Transport = r.outside
	p := b.Get("/admincp/setup").Status(200)
	if p.Header.Get("Strict-Transport-Security") == "" {
		r.t.Error("the addon does not know that its visitor uses https")
	}
	b.Post("/admincp/setup", "token", token, "email", "ada@site.example", "password", "correct horse battery").LeadsTo("/api-addons/admin")
	b.Get("/api-addons/admin").Status(200).Says("Dashboard", "The app has a name")
	if b.Cookie("__Host-countersign_session") == "" {
		r.t.Errorf("no secure cookie for the session: %v", b.Jar)
	}
}
