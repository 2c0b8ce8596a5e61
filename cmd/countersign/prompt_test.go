package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func fixedNow() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func TestRevokingAsksAPerson(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed string
		flags       []string
		code        int
		asked       bool
	}{
		{"y goes ahead", "y\n", nil, cli.ExitOK, true},
		{"YES goes ahead", " YES \n", nil, cli.ExitOK, true},
		{"n changes nothing", "n\n", nil, cli.ExitFailed, true},
		{"the empty answer means no", "\n", nil, cli.ExitFailed, true},
		{"the end of input means no", "", nil, cli.ExitFailed, true},
		{"--yes does not ask", "", []string{"--yes"}, cli.ExitOK, false},
		{"--no-input is an error", "y\n", []string{"--no-input"}, cli.ExitUsage, false},
		{"--yes wins over --no-input", "", []string{"--no-input", "--yes"}, cli.ExitOK, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := shop(t)
			r := asPerson(t, t.Context(), dir, tt.typed, append([]string{"store", "key", "revoke", "1"}, tt.flags...)...)
			if asked := strings.Contains(r.err, `Revoke key 1 ("web" of ada`); r.code != tt.code || asked != tt.asked {
				t.Errorf("exit %d, asked %t: %q", r.code, asked, r.err)
			}
			if tt.code == cli.ExitUsage && !strings.Contains(r.err, "--yes") {
				t.Errorf("%q does not name --yes", r.err)
			}
			revoked := strings.Contains(mustRun(t, dir, "store", "key", "list").out, "revoked")
			if revoked != (tt.code == cli.ExitOK) {
				t.Errorf("revoked: %t", revoked)
			}
		})
	}
}

func TestRotatingWithinAnOverlapAsksAPerson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, typed string
		flags       []string
		code        int
		asked       bool
	}{
		{"y goes ahead", "y\n", nil, cli.ExitOK, true},
		{"n changes nothing", "n\n", nil, cli.ExitFailed, true},
		{"the end of input means no", "", nil, cli.ExitFailed, true},
		{"--yes does not ask", "", []string{"--yes"}, cli.ExitOK, false},
		{"--no-input is an error", "y\n", []string{"--no-input"}, cli.ExitUsage, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := shop(t)
			first := asPerson(t, t.Context(), dir, "", "store", "key", "rotate", "1", "--json")
			if first.code != 0 || strings.Contains(first.err, "[y/N]") {
				t.Fatalf("the first rotation: exit %d, %q", first.code, first.err)
			}
			value := mustRun(t, dir, "store", "key", "reveal", "1").out
			r := asPerson(t, t.Context(), dir, tt.typed, append([]string{"store", "key", "rotate", "1"}, tt.flags...)...)
			asked := regexp.MustCompile(`Key 1 \("web" of ada\) was rotated before\. Its earlier value \(csk_….{4}\) works until 2026-11-22T12:00:00Z and would end now\. The key was never used\. Rotate it again\? \[y/N\]`).MatchString(r.err)
			if r.code != tt.code || asked != tt.asked {
				t.Errorf("exit %d, asked %t: %q", r.code, asked, r.err)
			}
			if rotated := mustRun(t, dir, "store", "key", "reveal", "1").out != value; rotated != (tt.code == cli.ExitOK) {
				t.Errorf("rotated: %t", rotated)
			}
		})
	}
}

func TestTestModeWithMembersAsksAPerson(t *testing.T) {
	t.Parallel()
	at := sites.New(t, dbtest.SQLite)
	addontest.AddPurchase(t, at, addondb.Purchase{UserID: "ana", Environment: "production", Application: "com.tuneful.app", Access: true})
	mustRun(t, "", "addon", "iap", "set", "iapSandboxEnabled", "1", "--data", at.Dir)
	for _, tt := range []struct {
		name, typed string
		args        []string
		code        int
	}{
		{"n publishes nothing", "n\n", []string{"publish", "-m", "Test"}, cli.ExitFailed},
		{"y publishes", "y\n", []string{"publish", "-m", "Test"}, cli.ExitOK},
		{"its end is not asked about", "", []string{"rollback", "1"}, cli.ExitOK},
		{"a rollback asks too", "n\n", []string{"rollback", "2"}, cli.ExitFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := asPerson(t, t.Context(), "", tt.typed, append([]string{"addon", "settings", "--data", at.Dir}, tt.args...)...)
			asked := strings.Contains(r.err, "1 member has purchases in the real store") && strings.Contains(r.err, "Publish? [y/N]")
			if r.code != tt.code || asked != (tt.typed != "") {
				t.Errorf("exit %d, asked %t: %q", r.code, asked, r.err)
			}
		})
	}
}

func TestAPersonIsAskedForAPurchaseCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, typed string
		flags       []string
		code        int
		asked       bool
	}{
		{"the code is good", "code-1\n", nil, cli.ExitOK, true},
		{"nothing is no code", "\n", nil, cli.ExitUsage, true},
		{"--no-input is an error", "code-1\n", []string{"--no-input"}, cli.ExitUsage, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := asPerson(t, t.Context(), shop(t), tt.typed, append([]string{"store", "purchase", "check", "-"}, tt.flags...)...)
			if asked := strings.Contains(r.err, "Purchase code: "); r.code != tt.code || asked != tt.asked {
				t.Errorf("exit %d, asked %t: %q", r.code, asked, r.err)
			}
		})
	}
}

func TestRekeyAsksAPersonAndNamesWhatIsDropped(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	key := filepath.Join(dir, "countersign.key")
	must.Do(t, os.Remove(key))
	r := asPerson(t, t.Context(), dir, "\n", "store", "rekey")
	if r.code != cli.ExitFailed || !strings.Contains(r.err, "ada/web") {
		t.Errorf("exit %d: %q", r.code, r.err)
	}
	if _, err := os.Stat(key); !os.IsNotExist(err) {
		t.Errorf("there is a key file: %v", err)
	}
	if r = asPerson(t, t.Context(), dir, "y\n", "store", "rekey"); r.code != 0 {
		t.Errorf("exit %d: %q", r.code, r.err)
	}
	mustRun(t, dir, "store", "purchase", "check", "code-1")
}

func TestCtrlCEndsAQuestion(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe() // nobody ever types
	a := newPerson(dir, in, io.Discard, cancelAt{"[y/N]", cancel})
	expect.Equalf(t, a.execute(ctx, []string{"store", "key", "revoke", "1"}), cli.ExitInterrupted, "exit")
}

// cancelAt is a stderr that interrupts the program when it says something.
type cancelAt struct {
	text   string
	cancel func()
}

func (c cancelAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		c.cancel()
	}
	return len(p), nil
}

// shop creates a store with one workspace, its key 1, an item and the purchase
// code-1, and returns the data folder.
func shop(t *testing.T) string {
	t.Helper()
	dir := shops.New(t, dbtest.SQLite).Dir
	if err := os.Chmod(dir, 0o700); err != nil { // as a data folder is made
		t.Fatal(err)
	}
	return dir
}

// shops is a store of shopLines, and sites an addon after its first update.
var (
	shops = template(shopLines, "store", "import", "-")
	sites = template("", "addon", "update")
)

// template is what a command makes in an empty database and an empty folder.
func template(stdin string, args ...string) *dbtest.Template {
	return dbtest.NewTemplate(func(db dbtest.DB) error {
		env := environment{envData: db.Dir, envDB: db.URL, envAddonData: db.Dir, envAddonDB: db.URL}
		var stderr bytes.Buffer
		if code := run(context.Background(), args, env.lookup, strings.NewReader(stdin), io.Discard, &stderr); code != 0 {
			return errors.New(stderr.String())
		}
		return nil
	})
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.jsonl")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const shopLines = `{"type":"workspace","username":"ada","name":{"firstname":"Ada","lastname":"Byron"},"email":"ada@shop.example","balance":0,"currency":"USD","profile":{},"registered_at":"2024-04-27T12:00:00Z"}
{"type":"key","workspace":"ada","name":"web"}
{"type":"item","workspace":"ada","id":1229,"support":true,"name":"Rain Loop Pack","description":"","category":"","sub_category":"","options":[],"version":"1.2.3","demo_link":"","tags":[],"media":{},"price":{"regular":49.00,"extended":199.00},"currency":"EUR","published_at":"2024-04-27T12:00:00Z"}
{"type":"purchase","workspace":"ada","item_id":1229,"purchase_code":"code-1","license_type":"Regular","price":49.00,"currency":"EUR","date":"2024-04-27T12:00:00Z","buyer":{"name":"Grace\u001b[2J","email":"grace@home.example"}}
`
