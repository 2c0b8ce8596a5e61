package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// tlsClient returns a client that trusts certificates, and has each response say how it came.
func tlsClient(t *testing.T, trusted ...webtest.Certificate) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: webtest.Client(trusted...), ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func newCertificate(t *testing.T) webtest.Certificate {
	t.Helper()
	return webtest.NewCertificate(t, time.Now().Add(60*24*time.Hour), "shop.example", "127.0.0.1")
}

// getWith returns the response to a GET, whose body is read.
func getWith(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r := must.Get(client.Get(url))(t)
	defer r.Body.Close()
	text := must.Get(io.ReadAll(r.Body))(t)
	return r, string(text)
}

func TestBothServersSpeakHTTPSByThemselves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, url, cert, key, page, call, body string }{
		{"store", "store_url", envTLSCert, envTLSKey, "/login", "/api/items/all", `"status":"error","msg":"Use https`},
		{"addon", "addon_url", envAddonTLSCert, envAddonTLSKey, "/admincp/login", "/api-addons/app/settings", `"code":"https_needed"`},
	} {
		t.Run(tt.command, func(t *testing.T) {
			c := newCertificate(t)
			cert, key := c.Write(t, t.TempDir())
			dir := filepath.Join(t.TempDir(), "data")
			mustRun(t, dir, "addon", "update", "--data", dir+"-addon")
			if tt.command == "addon" {
				dir += "-addon"
			}
			s := startServer(t, environment{tt.cert: cert, tt.key: key}, tt.command, "serve", "--data", dir, "--redirect-listen", "127.0.0.1:0")
			client := tlsClient(t, c)
			url := s.said[tt.url]
			if !strings.HasPrefix(url, "https://") {
				t.Fatalf("it says %s", url)
			}
			r, _ := getWith(t, client, url+"/readyz")
			if r.StatusCode != 200 || r.ProtoMajor != 2 {
				t.Errorf("%s %s", r.Proto, r.Status)
			}
			if setup := s.said["setup_url"]; !strings.HasPrefix(setup, url) {
				t.Errorf("the set-up link is %s", setup)
			}
			plain := s.said["redirect_url"]
			if r, _ := getWith(t, client, plain+tt.page); r.StatusCode != 301 || r.Header.Get("Location") != url+tt.page {
				t.Errorf("a page: %s to %s", r.Status, r.Header.Get("Location"))
			}
			if r, body := getWith(t, client, plain+tt.call); r.StatusCode != 403 || !strings.Contains(body, tt.body) {
				t.Errorf("a call: %s %s", r.Status, body)
			}
			expect.Equalf(t, s.stop(), 0, "exit: %s", s.stderr)
		})
	}
}

// callers sends requests on connections that stay open until stop, which returns how many were answered.
func callers(t *testing.T, client *http.Client, url string) (stop func() int) {
	end := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	answered := 0
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				r, err := client.Get(url)
				if err != nil {
					t.Errorf("a request was not answered: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	return func() int {
		close(end)
		all.Wait()
		return answered
	}
}

func TestARenewedCertificateIsServedWithoutADroppedConnection(t *testing.T) {
	t.Parallel()
	first, second := newCertificate(t), newCertificate(t)
	folder := t.TempDir()
	cert, key := first.Write(t, folder)
	s := startServer(t, environment{}, "store", "serve", "--data", filepath.Join(t.TempDir(), "data"), "--tls-cert", cert, "--tls-key", key)
	url := s.said["store_url"] + "/readyz"
	one := tlsClient(t, first) // its connection is opened before the renewal, and stays
	getWith(t, one, url)
	old := tlsClient(t, first, second)
	old.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	stopOne, stopOld := callers(t, one, url), callers(t, old, url)
	second.Write(t, folder)
	for renewed := false; !renewed; {
		fresh := tlsClient(t, first, second)
		r, _ := getWith(t, fresh, url)
		renewed = r.TLS.PeerCertificates[0].Equal(second.Leaf)
		fresh.CloseIdleConnections()
	}
	if a, b := stopOne(), stopOld(); a == 0 || b == 0 {
		t.Errorf("%d and %d requests were answered", a, b)
	}
	if got := s.stderr.String(); !strings.Contains(got, "serving a changed certificate") {
		t.Errorf("the log says %s", got)
	}
}

func TestFilesOfACertificateThatCantBeUsedEndTheStart(t *testing.T) {
	c := newCertificate(t)
	cert, key := c.Write(t, t.TempDir())
	_, other := newCertificate(t).Write(t, t.TempDir())
	for _, tt := range []struct{ name, cert, key, says, next string }{
		{"missing", cert + ".none", key, "no such file", "correct --tls-cert and --tls-key"},
		{"exchanged", key, cert, "has no certificate", "name the PEM files with --tls-cert"},
		{"not a pair", cert, other, "does not belong to the certificate", "issued together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := command(t, t.TempDir(), "store", "serve", "--listen", "127.0.0.1:0", "--tls-cert", tt.cert, "--tls-key", tt.key)
			if r.code == 0 || !strings.Contains(r.err, tt.says) || !strings.Contains(r.err, tt.next) {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
		})
	}
}

func TestFlagsOfTLSThatDoNotFitTogetherAreNamed(t *testing.T) {
	for _, tt := range []struct {
		says string
		args []string
	}{
		{"--tls-key: missing", []string{"--tls-cert", "c.pem"}},
		{"--tls-cert: missing", []string{"--tls-key", "k.pem"}},
		{"--acme: can't be used with --tls-cert", []string{"--tls-cert", "c.pem", "--tls-key", "k.pem", "--acme", "shop.example"}},
		{"--acme: invalid host", []string{"--acme", "192.0.2.7"}},
		{"--acme: invalid host", []string{"--acme", "shop.example,localhost"}},
		{"--acme: invalid address of an ACME directory", []string{"--acme", "shop.example", "--acme-url", "http://ca.example"}},
		{"--acme-email: needs --acme", []string{"--acme-email", "ada@shop.example"}},
		{"--acme-url: needs --acme", []string{"--acme-url", "https://ca.example"}},
		{"--acme is empty", []string{"--acme", ""}},
		{"--redirect-listen is empty", []string{"--redirect-listen", ""}},
		{"--redirect-listen: needs --tls-cert or --acme", []string{"--redirect-listen", ":80"}},
		{"--redirect-listen: invalid address", []string{"--acme", "shop.example", "--redirect-listen", "80"}},
		{"--base-url: begins with http://", []string{"--acme", "shop.example", "--base-url", "http://shop.example"}},
	} {
		for _, service := range []string{"store", "addon"} {
			r := command(t, t.TempDir(), append([]string{service, "serve", "--listen", "127.0.0.1:0"}, tt.args...)...)
			if r.code != cli.ExitUsage || !strings.Contains(r.err, tt.says) {
				t.Errorf("%s %v: exit %d: %s", service, tt.args, r.code, r.err)
			}
		}
	}
}

func TestAKeyThatEverybodyCanReadIsLogged(t *testing.T) {
	t.Parallel()
	cert, key := newCertificate(t).Write(t, t.TempDir())
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true} {
		must.Do(t, os.Chmod(key, mode))
		s := startServer(t, environment{}, "store", "serve", "--data", filepath.Join(t.TempDir(), "data"), "--tls-cert", cert, "--tls-key", key)
		s.stop()
		expect.Equalf(t, strings.Contains(s.stderr.String(), "can read the key of the certificate"), warned, "mode %04o: warned: %s", mode, s.stderr)
	}
}
