package certificate

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

const host = "shop.example"

func TestHostsAndDirectoriesThatCantBeUsedAreRefused(t *testing.T) {
	for _, o := range []ACMEOptions{
		{Hosts: []string{""}},
		{Hosts: []string{"localhost"}},
		{Hosts: []string{"192.0.2.7"}},
		{Hosts: []string{"[2001:db8::7]"}},
		{Hosts: []string{"2001:db8::7"}},
		{Hosts: []string{"*.shop.example"}},
		{Hosts: []string{"shop.example:443"}},
		{Hosts: []string{"https://shop.example"}},
		{Hosts: []string{"shop.example", "a b.example"}},
		{Hosts: []string{"shop.example"}, Directory: "http://ca.example/directory"},
		{Hosts: []string{"shop.example"}, Directory: "ca.example"},
	} {
		if _, err := NewACME(o); !fault.HasCode(err, CodeACME) {
			t.Errorf("%v %s: %v", o.Hosts, o.Directory, err)
		}
	}
}

func TestHostsAreNamedAsCertificatesNameThem(t *testing.T) {
	a := must.Get(NewACME(ACMEOptions{Hosts: []string{"Shop.Example.", "bücher.example"}}))(t)
	for _, name := range []string{"shop.example", "xn--bcher-kva.example"} {
		if a.hosts[name] == nil {
			t.Errorf("no %s in %v", name, a.options.Hosts)
		}
	}
}

// A handshake that led to a call of the authority would use up what that allows.
func TestAHandshakeForAnotherNameIsRefused(t *testing.T) {
	called := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the authority was called") }))
	defer called.Close()
	a := must.Get(NewACME(ACMEOptions{Hosts: []string{host}, Directory: called.URL, Folder: t.TempDir()}))(t)
	close(a.hosts[host].tried) // and failed
	for _, name := range []string{"evil.example", host} {
		server, client := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
		}()
		if err := tls.Server(server, a.TLS()).Handshake(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
		<-done
	}
}

// free returns an address on which nothing listens.
func free(t *testing.T) (addr string, port int) {
	t.Helper()
	ln := listen(t)
	defer ln.Close()
	return ln.Addr().String(), ln.Addr().(*net.TCPAddr).Port
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// An authority is pebble, for names that all lead to this machine.
type authority struct {
	directory string
	client    *http.Client // trusts it
}

// startAuthority starts pebble, whose certificates are valid for some seconds, and which looks for challenges on ports.
func startAuthority(t *testing.T, seconds, httpPort, tlsPort int) authority {
	t.Helper()
	dbtest.Long(t)
	dbtest.NeedProgram(t, "pebble")
	dbtest.NeedProgram(t, "pebble-challtestsrv")
	dns, _ := free(t)
	addr, _ := free(t)
	management, _ := free(t)
	own := webtest.NewCertificate(t, time.Now().Add(day), "127.0.0.1")
	dir := t.TempDir()
	cert, key := own.Write(t, dir)
	config := must.Get(json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": addr, "managementListenAddress": management, "certificate": cert, "privateKey": key,
		"httpPort": httpPort, "tlsPort": tlsPort, "certificateValidityPeriod": seconds,
	}}))(t)
	start(t, "Starting challenge servers", "pebble-challtestsrv", "-http01", "", "-https01", "", "-tlsalpn01", "", "-management", "", "-dns01", dns, "-defaultIPv6", "")
	start(t, "Listening on", "pebble", "-config", write(t, filepath.Join(dir, "pebble.json"), config), "-dnsserver", dns)
	transport := &http.Transport{TLSClientConfig: webtest.Client(own)}
	t.Cleanup(transport.CloseIdleConnections)
	a := authority{"https://" + addr + "/dir", &http.Client{Transport: transport}}
	for answered := false; !answered; {
		r, err := a.client.Get(a.directory)
		if answered = err == nil; answered {
			r.Body.Close()
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	return a
}

// start runs a program until the end of the test, and waits until it says that it is ready.
func start(t *testing.T, ready, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	must.Do(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatalf("%s: %s", name, said)
}

// An issued is an ACME under test, on a listener with TLS.
type issued struct {
	*ACME
	addr string
	stop func()
}

// obtain runs an ACME that serves its certificates on ln.
func obtain(t *testing.T, from authority, folder string, ln net.Listener, log *slog.Logger, change func(*ACME)) issued {
	t.Helper()
	a := must.Get(NewACME(ACMEOptions{Hosts: []string{host}, Email: "ada@shop.example", Directory: from.directory, Folder: folder, Log: log}))(t)
	a.manager.Client.HTTPClient = from.client
	change(a)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	server := &http.Server{Handler: http.NotFoundHandler(), TLSConfig: a.TLS(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { _ = server.ServeTLS(ln, "", "") }()
	i := issued{a, ln.Addr().String(), func() {
		cancel()
		expect.NoError(t, <-done)
		_ = server.Close()
	}}
	return i
}

// handshake returns the certificate that a client with a name sees.
func (i issued) handshake(name string) (*x509.Certificate, error) {
	c, err := tls.Dial("tcp", i.addr, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // the authority is pebble's
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0], nil
}

// await shakes hands until the certificate is as wanted, and fails shortly before the test's deadline.
func (i issued) await(t *testing.T, wanted func(*x509.Certificate) bool) *x509.Certificate {
	t.Helper()
	ctx := t.Context()
	if end, limited := t.Deadline(); limited {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, end.Add(-10*time.Second))
		defer stop()
	}
	for {
		c, err := i.handshake(host)
		if err == nil && wanted(c) {
			return c
		}
		if ctx.Err() != nil {
			t.Fatalf("no such certificate: %v", err)
		}
	}
}

func anything(*x509.Certificate) bool { return true }

func TestACertificateIsObtainedAndRenewed(t *testing.T) {
	t.Parallel()
	ln := listen(t)
	_, unused := free(t)
	pebble := startAuthority(t, 20, unused, ln.Addr().(*net.TCPAddr).Port)
	i := obtain(t, pebble, t.TempDir(), ln, slog.New(slog.DiscardHandler), func(a *ACME) { a.manager.RenewBefore = 19 * time.Second })
	defer i.stop()
	first := i.await(t, anything)
	expect.NoError(t, first.VerifyHostname(host))
	second := i.await(t, func(c *x509.Certificate) bool { return c.SerialNumber.Cmp(first.SerialNumber) != 0 })
	if second.NotAfter.Before(first.NotAfter) { // whole seconds, and the renewal may follow in the same one
		t.Errorf("the first expires %s, the next %s", first.NotAfter, second.NotAfter)
	}
	if c, err := i.handshake(""); err != nil || c.VerifyHostname(host) != nil {
		t.Errorf("without a name: %v", err)
	}
	if _, err := i.handshake("evil.example"); err == nil {
		t.Error("another name is served")
	}
}

func TestACertificateIsObtainedByPlainHTTPAndKept(t *testing.T) {
	t.Parallel()
	plain, ln := listen(t), listen(t)
	_, unused := free(t)
	pebble := startAuthority(t, 3600, plain.Addr().(*net.TCPAddr).Port, unused)
	folder := filepath.Join(t.TempDir(), "acme")
	i := obtain(t, pebble, folder, ln, slog.New(slog.DiscardHandler), func(a *ACME) {
		server := &http.Server{Handler: a.Challenges(http.NotFoundHandler())}
		go func() { _ = server.Serve(plain) }()
	})
	first := i.await(t, anything)
	i.stop()
	private(t, folder)

	none := authority{"https://127.0.0.1:1/dir", pebble.client}
	i = obtain(t, none, folder, listen(t), slog.New(slog.DiscardHandler), func(*ACME) {})
	defer i.stop()
	if again := i.await(t, anything); !again.Equal(first) {
		t.Error("a restart has another certificate")
	}
	if begin, end := i.Validity(); !begin.Equal(first.NotBefore) || !end.Equal(first.NotAfter) {
		t.Errorf("valid from %s to %s, want %s to %s", begin, end, first.NotBefore, first.NotAfter)
	}
}

// private checks that nobody else can read what is in a folder.
func private(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		files++
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files: %v", files, err)
	}
}

func TestAFailureIsLoggedAndTheStopDoesNotWait(t *testing.T) {
	asked, leave := make(chan struct{}, 10), make(chan struct{})
	dead := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-leave
	}))
	defer dead.Close()
	defer close(leave)
	i := obtain(t, authority{dead.URL, dead.Client()}, t.TempDir(), listen(t), slog.New(slog.DiscardHandler), func(*ACME) {})
	<-asked
	i.stop()
	if begin, end := i.Validity(); !begin.IsZero() || !end.IsZero() {
		t.Error("a certificate that was not obtained has a validity")
	}

	said := make(lines, 10)
	refused := authority{"https://127.0.0.1:1/dir", dead.Client()}
	i = obtain(t, refused, t.TempDir(), listen(t), slog.New(slog.NewTextHandler(said, nil)), func(*ACME) {})
	if got := <-said; !strings.Contains(got, "no certificate was obtained") || !strings.Contains(got, host) || !strings.Contains(got, "refused") {
		t.Errorf("the log says %s", got)
	}
	i.stop()
}

// lines passes on what is written.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}
