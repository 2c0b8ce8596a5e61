package events

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestAddressesOfWebhooks(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		for _, c := range []struct{ rule, url, want string }{
			{"https", " https://site.example/hooks?x=1 ", ""},
			{"http on a private address that is allowed", "http://127.0.0.1:8080/hooks", ""},
			{"http by a name, where private addresses are allowed", "http://site/hooks", ""},
			{"https on an address that nobody can allow", "https://169.254.169.254/", "Webhooks can't be sent to 169.254.169.254"},
			{"http on a public address", "http://192.0.2.1/hooks", "Over http"},
			{"a password", "https://ana:t0psecret@site.example/", "Leave out the user name"},
			{"another scheme", "ftp://site.example/", "Invalid address"},
			{"no scheme", "site.example/hooks", "Invalid address"},
			{"no host", "https:///hooks", "Invalid address"},
			{"a port that does not exist", "https://site.example:65536/", "Invalid address"},
			{"no address at all, in numbers", "https://127.1/", "Invalid address"},
			{"a fragment", "https://site.example/#hooks", "Invalid address"},
			{"nothing", " ", "Enter the address"},
			{"two lines", "https://site.example/\nx", "It has line breaks"},
			{"too long", "https://site.example/" + strings.Repeat("x", maxURL), "It is longer"},
		} {
			_, _, err := p.AddWebhook(t.Context(), operator, c.url, nil)
			if c.want == "" {
				wantError(t, err, "")
				continue
			}
			var apiErr *countersign.Error
			if !errors.As(err, &apiErr) || apiErr.Code != "webhook_invalid" || !strings.HasPrefix(apiErr.Fields["url"], c.want) || strings.Contains(err.Error(), "t0psecret") {
				t.Errorf("%s: %v", c.rule, err)
			}
		}
		_, _, err := p.AddWebhook(t.Context(), operator, "https://site.example", []Type{TestPing, "membership.lost"})
		wantError(t, err, "webhook_invalid")
		if w := p.state(t, 1); w.URL != "https://site.example/hooks?x=1" {
			t.Errorf("%+v", w)
		}
	})
}

func TestWithoutAllowedNetworksAWebhookHasHTTPSAndAPublicAddress(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		p.allowed = nil
		w, _, err := p.AddWebhook(t.Context(), operator, "https://site.example/hooks", nil)
		wantError(t, err, "")
		for url, code := range map[string]string{
			"http://site/hooks": "webhook_invalid", "http://127.0.0.1/hooks": "webhook_private", "https://10.0.0.1/hooks": "webhook_private",
			"https://localhost./hooks": "webhook_private", "https://[::ffff:192.168.0.1]/": "webhook_private", "https://93.184.215.14/": "",
		} {
			_, _, err := p.AddWebhook(t.Context(), operator, url, nil)
			wantError(t, err, code)
			_, err = p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &url})
			wantError(t, err, code)
		}
	})
}

// names has the host site.example resolve to addresses; without any it is not known.
func (p *process) names(addresses ...string) {
	p.lookup = func(ctx context.Context, network, host string) (list []netip.Addr, err error) {
		deadline, bounded := ctx.Deadline()
		if network != "ip" || host != "site.example" || !bounded || time.Until(deadline) > lookupTimeout || len(addresses) == 0 {
			return nil, &net.DNSError{Name: host, IsNotFound: true}
		}
		for _, text := range addresses {
			list = append(list, netip.MustParseAddr(text))
		}
		return list, nil
	}
}

func TestANameIsAddedUnlessAllItsAddressesAreForbidden(t *testing.T) {
	const withTLS, without = "https://site.example/hooks", "http://site.example/hooks"
	engines(t, func(t *testing.T, p *process) {
		w, _, err := p.AddWebhook(t.Context(), operator, "https://other.example", nil)
		wantError(t, err, "")
		for _, c := range []struct {
			rule, url string
			addresses []string
			allowed   []netip.Prefix
			code, why string
		}{
			{rule: "a public one", url: withTLS, addresses: []string{"93.184.215.14"}},
			{rule: "one that is not known yet", url: withTLS},
			{rule: "private ones", url: withTLS, addresses: []string{"10.0.0.1", "fd00::1"}, code: "webhook_private", why: "site.example is in a private network"},
			{rule: "this machine", url: withTLS, addresses: []string{"::ffff:127.0.0.1"}, code: "webhook_private"},
			{rule: "a private one that is allowed", url: withTLS, addresses: []string{"127.0.0.1"}, allowed: loopback},
			{rule: "a private and a public one", url: withTLS, addresses: []string{"10.0.0.1", "93.184.215.14"}},
			{rule: "one that nobody can allow", url: withTLS, addresses: []string{"169.254.169.254"}, code: "webhook_invalid", why: "Webhooks can't be sent to site.example"},
			{rule: "http to a private one that is allowed", url: without, addresses: []string{"127.0.0.1"}, allowed: loopback},
			{rule: "http to another private one", url: without, addresses: []string{"10.0.0.1"}, allowed: loopback, code: "webhook_private"},
			{rule: "http to a public one", url: without, addresses: []string{"93.184.215.14"}, allowed: loopback, code: "webhook_invalid", why: "Over http"},
			{rule: "http to one that is not known yet", url: without, allowed: loopback},
		} {
			p.names(c.addresses...)
			p.allowed = c.allowed
			_, _, added := p.AddWebhook(t.Context(), operator, c.url, nil)
			_, edited := p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &c.url})
			for _, err := range []error{added, edited, p.CheckNew(t.Context(), c.url, nil)} {
				wantError(t, err, c.code)
				if apiErr, ok := errors.AsType[*countersign.Error](err); ok && !strings.HasPrefix(cmp.Or(apiErr.Fields["url"], apiErr.Message), c.why) {
					t.Errorf("%s: %v", c.rule, err)
				}
			}
			_, err := p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &w.URL}) // as it was
			wantError(t, err, "")
		}
	})
}

func TestAWebhookKeepsAnAddressThatIsForbiddenNow(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		p.names()
		w, _, err := p.AddWebhook(t.Context(), operator, "https://site.example/hooks", nil)
		wantError(t, err, "")
		p.names("10.0.0.1")
		_, err = p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &w.URL, Types: &[]Type{PurchaseRefunded}})
		wantError(t, err, "")
	})
}

func TestThereAreUpToTwentyWebhooks(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		for i := range maxWebhooks + 1 {
			_, _, err := p.AddWebhook(t.Context(), operator, fmt.Sprintf("https://site.example/%d", i), nil)
			wantError(t, err, map[bool]string{true: "too_many_webhooks"}[i == maxWebhooks])
		}
	})
}

func TestAWebhookIsChanged(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		old, fresh := newReceiver(t), newReceiver(t)
		w, secret := p.webhook(t, old, PurchaseRefunded)
		all := []Type{}
		for range 2 { // the second changes nothing
			must.Get(p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &fresh.url, Types: &all}))(t)
		}
		p.add(t, "ana")
		p.run(t)
		got := fresh.take()
		if len(got) != 1 || len(old.take()) > 0 {
			t.Fatalf("%+v", got)
		}
		wantGenuine(t, p, got[0], secret)
		if len(p.audits(t)) != 2 {
			t.Errorf("%v", p.audits(t))
		}
		empty := ""
		_, err := p.EditWebhook(t.Context(), operator, w.ID, WebhookChange{URL: &empty})
		wantError(t, err, "webhook_invalid")
		_, err = p.EditWebhook(t.Context(), operator, 99, WebhookChange{})
		wantError(t, err, "webhook_not_found")
	})
}

func TestASecretIsRotatedWithAnOverlap(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, first := p.webhook(t, r)
		w, second, err := p.RotateSecret(t.Context(), operator, w.ID, time.Hour)
		if err != nil || first == second || !w.OldSecretUntil.Equal(noon.Add(time.Hour)) || !w.RotatedAt.Equal(noon) {
			t.Fatalf("%+v, %v", w, err)
		}
		signatures := func() []received {
			p.add(t, "ana")
			p.run(t)
			return r.take()
		}
		got := signatures()[0]
		wantGenuine(t, p, got, first)
		wantGenuine(t, p, got, second)
		p.Move(time.Hour)
		got = signatures()[0]
		wantGenuine(t, p, got, second)
		if strings.Contains(got.signature, " ") || !p.state(t, w.ID).OldSecretUntil.IsZero() {
			t.Errorf("signed with two secrets after the overlap: %s", got.signature)
		}
		_, third, err := p.RotateSecret(t.Context(), operator, w.ID, 0)
		must.Do(t, err)
		if got = signatures()[0]; strings.Contains(got.signature, " ") {
			t.Error("an overlap although none was asked for")
		}
		wantGenuine(t, p, got, third)
		for _, overlap := range []time.Duration{-time.Second, MaxOverlap + time.Second} {
			_, _, err := p.RotateSecret(t.Context(), operator, w.ID, overlap)
			wantError(t, err, "webhook_invalid")
		}
	})
}

func TestASecretIsRevealedWithAnAuditEntryAndStandsNowhere(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, secret := p.webhook(t, r)
		got, err := p.RevealSecret(t.Context(), operator, w.ID)
		if err != nil || got != secret {
			t.Errorf("%v", err)
		}
		if audits := p.audits(t); !strings.HasPrefix(audits[len(audits)-1], "tester webhook.reveal 1 127.0.0.1:") {
			t.Errorf("%v", audits)
		}
		p.add(t, "ana")
		p.run(t)
		row, err := p.db.Webhook(t.Context(), w.ID)
		if text := fmt.Sprint(p.state(t, w.ID), p.audits(t), p.log, secret); err != nil || strings.Contains(text, string(secret)) || bytes.Contains(row.SecretSealed, []byte(secret)) {
			t.Errorf("the secret stands in %s", text)
		}
	})
}

func TestWhoMayDoWhatWithWebhooks(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		w, _ := p.webhook(t, newReceiver(t))
		for name, act := range map[string]func() error{
			"list":    func() error { _, err := p.Webhooks(t.Context(), program); return err },
			"show":    func() error { _, err := p.Webhook(t.Context(), program, w.ID); return err },
			"add":     func() error { _, _, err := p.AddWebhook(t.Context(), program, "https://site.example", nil); return err },
			"edit":    func() error { _, err := p.EditWebhook(t.Context(), program, w.ID, WebhookChange{}); return err },
			"pause":   func() error { _, err := p.Pause(t.Context(), program, w.ID); return err },
			"resume":  func() error { _, err := p.Resume(t.Context(), program, w.ID); return err },
			"reveal":  func() error { _, err := p.RevealSecret(t.Context(), program, w.ID); return err },
			"rotate":  func() error { _, _, err := p.RotateSecret(t.Context(), program, w.ID, 0); return err },
			"remove":  func() error { _, err := p.RemoveWebhook(t.Context(), program, w.ID); return err },
			"ping":    func() error { _, err := p.Ping(t.Context(), program, w.ID); return err },
			"log":     func() error { _, err := p.Deliveries(t.Context(), program, w.ID, DeliveryFilter{}); return err },
			"look":    func() error { _, _, err := p.Delivery(t.Context(), program, 1); return err },
			"replay":  func() error { return p.Replay(t.Context(), program, w.ID, 1) },
			"replays": func() error { _, err := p.ReplaySince(t.Context(), program, w.ID, noon); return err },
		} {
			t.Run(name, func(t *testing.T) { wantError(t, act(), "not_allowed") })
		}
	})
}

// A key file that is lost takes the secrets with it: nothing is sent unsigned.
func TestAWebhookWithoutItsSecretIsPausedUntilItIsRotated(t *testing.T) {
	engines(t, func(t *testing.T, p *process) {
		r := newReceiver(t)
		w, _ := p.webhook(t, r)
		_, secret, err := p.RotateSecret(t.Context(), operator, w.ID, time.Hour)
		must.Do(t, err)
		reseal := func(old, fresh *keyfile.Box) {
			t.Helper()
			must.Do(t, p.db.Tx(t.Context(), func(tx *addondb.DB) error { return p.ResealWebhooks(t.Context(), tx, old, fresh) }))
		}
		box := p.access.Box()
		other := newBox(t)
		if lost, err := p.LostWebhooks(t.Context(), box); err != nil || len(lost) > 0 {
			t.Errorf("%+v, %v", lost, err)
		}
		reseal(box, other)
		p.access.Open(other)
		if got, err := p.RevealSecret(t.Context(), operator, w.ID); err != nil || got != secret || p.state(t, w.ID).OldSecretUntil.IsZero() {
			t.Errorf("resealed: %v", err)
		}
		if lost, err := p.LostWebhooks(t.Context(), nil); err != nil || len(lost) != 1 {
			t.Errorf("%+v, %v", lost, err)
		}
		reseal(nil, box)
		p.access.Open(box)
		expect.Equalf(t, p.state(t, w.ID).PausedFor, PausedSecretLost, "not paused")
		p.add(t, "ana")
		_, err = p.Resume(t.Context(), operator, w.ID)
		wantError(t, err, "webhook_secret_lost")
		_, err = p.RevealSecret(t.Context(), operator, w.ID)
		wantError(t, err, "webhook_secret_lost")
		_, fresh, err := p.RotateSecret(t.Context(), operator, w.ID, time.Hour)
		must.Do(t, err)
		must.Get(p.Resume(t.Context(), operator, w.ID))(t)
		p.run(t)
		wantGenuine(t, p, r.take()[0], fresh)
	})
}

// newBox is the key file of another database.
func newBox(t *testing.T) *keyfile.Box {
	t.Helper()
	at := dbtest.New(t, dbtest.SQLite)
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{Path: at.Dir + "/addon.db", Schemas: addondb.Schemas}))(t)
	defer db.Close()
	must.Do(t, db.Migrate(t.Context()))
	box := must.Get((&keyfile.Location{Service: keyfile.Addon, Dir: at.Dir}).Open(t.Context(), db.Queries()))(t)
	return box
}
