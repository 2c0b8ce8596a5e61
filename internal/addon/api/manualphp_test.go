package api_test

import (
	"bufio"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/must"
)

// The script that the manual has for webhooks keeps the newest membership, and refuses what is not signed for it.
func TestTheManualsPHPReceivesWebhooks(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "php")
	secret, members := hook.NewSecret(), filepath.Join(t.TempDir(), "members.json")
	address := servePHP(t, "webhook.php", "WEBHOOK_SECRET="+secret.Text(), "MEMBERS="+members)
	sender := hook.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, "test", time.Now)
	t.Cleanup(sender.Close)
	for _, c := range []struct {
		name, body string
		secrets    []hook.Secret
		status     int
		kept       string
	}{
		{"not signed for it", `{"user_id":"7","membership":{"version":9}}`, []hook.Secret{hook.NewSecret()}, 401, ""},
		{"a ping", `{"type":"test.ping","user_id":null,"membership":null}`, []hook.Secret{secret}, 204, ""},
		{"the first, while the secret is rotated", `{"user_id":"7","membership":{"status":"active","version":2}}`, []hook.Secret{hook.NewSecret(), secret}, 204, `{"7":{"status":"active","version":2}}`},
		{"an older one", `{"user_id":"7","membership":{"status":"none","version":1}}`, []hook.Secret{secret}, 204, `{"7":{"status":"active","version":2}}`},
		{"a newer one", `{"user_id":"7","membership":{"status":"grace","version":3}}`, []hook.Secret{secret}, 204, `{"7":{"status":"grace","version":3}}`},
	} {
		got := sender.Send(t.Context(), hook.Message{ID: c.name, URL: address, Body: []byte(c.body), Secrets: c.secrets})
		kept, _ := os.ReadFile(members) // it is not there before the first one
		if got.Status != c.status || string(kept) != c.kept {
			t.Errorf("%s: %+v, kept %s", c.name, got, kept)
		}
	}
}

// servePHP serves a file of the manual with PHP's own web server.
func servePHP(t *testing.T, name string, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(file, []byte(manualBlocks(t, "php file="+name)[0]), 0o600))
	for range 5 { // another program may take the port that was free a moment ago
		free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		address := free.Addr().String()
		must.Do(t, free.Close())
		c := exec.CommandContext(t.Context(), "php", "-S", address, file)
		c.Env = append(os.Environ(), env...)
		said := must.Get(c.StderrPipe())(t)
		must.Do(t, c.Start())
		line, _ := bufio.NewReader(said).ReadString('\n')
		if strings.Contains(line, "started") {
			t.Cleanup(func() {
				_ = c.Process.Kill()
				_ = c.Wait()
			})
			return "http://" + address + "/"
		}
		_ = c.Wait()
	}
	t.Fatal("PHP's web server does not start")
	return ""
}
