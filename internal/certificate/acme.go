package certificate

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

const (
	// callTimeout is how long a call of the certificate authority takes at most.
	callTimeout = 30 * time.Second
	// firstWait is how long a handshake waits for the certificate of a server that has just started.
	firstWait = 3 * time.Second
	// retryFirst and retryLast are the first and the longest wait after a failure. Authorities count failures: Let's
	// Encrypt refuses more after five an hour.
	retryFirst = 2 * time.Minute
	retryLast  = time.Hour
	// checkEvery is how often expiry is checked.
	checkEvery = time.Hour
)

// CodeACME is the code of wrong settings for ACME.
const CodeACME = "acme_invalid"

// ACMEOptions configures [NewACME].
type ACMEOptions struct {
	// Hosts are the names to obtain certificates for, one for each.
	Hosts []string
	// Email is where the authority writes about the account; "" is nowhere.
	Email string
	// Directory is the https URL of the authority's directory; "" is Let's Encrypt.
	Directory string
	// Folder keeps the account's key and the certificates. It is created with mode 0700, its files with 0600.
	Folder string
	// Log receives what was obtained, and why it was not.
	Log *slog.Logger
	// Now is the clock for warnings about expiry; nil means time.Now.
	Now func() time.Time
}

// ACME obtains certificates from an authority and renews them.
type ACME struct {
	options ACMEOptions
	manager *autocert.Manager
	hosts   map[string]*acmeHost
}

// An acmeHost is a name, and the progress of its certificate.
type acmeHost struct {
	name   string
	expiry expiryLog
	// tried is closed after the first attempt to obtain the certificate.
	tried chan struct{}

	mu      sync.Mutex
	current *tls.Certificate // nil: none yet
}

// NewACME checks the options. Nothing is obtained before [ACME.Run]. Using it accepts the authority's terms of service.
func NewACME(o ACMEOptions) (*ACME, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &ACME{options: o, hosts: map[string]*acmeHost{}}
	names := make([]string, len(o.Hosts))
	for i, host := range o.Hosts {
		name, err := publicName(host)
		if err != nil {
			return nil, err
		}
		names[i] = name
		a.hosts[name] = &acmeHost{name: name, tried: make(chan struct{}), expiry: expiryLog{log: o.Log}}
	}
	a.options.Hosts = names
	if u, err := url.Parse(o.Directory); o.Directory != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return nil, fault.Invalid(CodeACME, "invalid address of an ACME directory: expected one like "+acme.LetsEncryptURL)
	}
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Folder), HostPolicy: a.allow, Email: o.Email,
		Client: &acme.Client{
			DirectoryURL: cmp.Or(o.Directory, acme.LetsEncryptURL), UserAgent: "countersign",
			HTTPClient: &http.Client{Timeout: callTimeout, Transport: failureLog{http.DefaultTransport, o.Log}},
		},
	}
	return a, nil
}

// publicName returns a host name as certificates have it.
func publicName(host string) (string, error) {
	wrong := func(why string) error {
		return fault.Invalid(CodeACME, fmt.Sprintf("invalid host %q: %s", host, why))
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return "", wrong("it is an address; authorities certify names like shop.example")
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !strings.Contains(name, ".") {
		return "", wrong("expected a public name like shop.example, without port and wildcard")
	}
	return name, nil
}

// allow is the policy of the manager, which asks for handshakes and for HTTP-01.
func (a *ACME) allow(_ context.Context, host string) error {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if a.hosts[strings.ToLower(host)] == nil {
		return fmt.Errorf("%q is not a name of this server", host)
	}
	return nil
}

// Hosts returns the names as certificates have them.
func (a *ACME) Hosts() []string { return a.options.Hosts }

// TLS returns the configuration of a listener that serves the certificates and answers TLS-ALPN-01 challenges.
func (a *ACME) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate, NextProtos: []string{acme.ALPNProto}}
}

// Challenges returns a handler for plain HTTP that answers HTTP-01 challenges, and passes everything else to next.
func (a *ACME) Challenges(next http.Handler) http.Handler { return a.manager.HTTPHandler(next) }

// certificate returns the certificate for a handshake. It never asks the authority, so that strangers can't use up what
// that allows. A client that names no host gets the certificate of the first.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello)
	}
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	host := a.hosts[cmp.Or(name, a.options.Hosts[0])]
	if host == nil {
		return nil, fmt.Errorf("certificate: %q is not a name of this server", name)
	}
	if !host.await(hello.Context()) {
		return nil, fmt.Errorf("certificate: none was obtained for %s yet", host.name)
	}
	// The manager has the certificate in memory, and replaces it when it renews it.
	return a.manager.GetCertificate(helloFor(host.name))
}

// helloFor returns the handshake for which the manager has the certificate of a host. All clients that can use TLS 1.2
// can use its key.
func helloFor(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Validity returns the validity of the certificate that expires first, zero times while one is missing.
func (a *ACME) Validity() (begin, end time.Time) {
	for _, h := range a.hosts {
		c := h.get()
		if c == nil {
			return time.Time{}, time.Time{}
		}
		if end.IsZero() || c.Leaf.NotAfter.Before(end) {
			begin, end = c.Leaf.NotBefore, c.Leaf.NotAfter
		}
	}
	return begin, end
}

// Run obtains certificates until ctx ends. It goes on after failures, which it logs.
func (a *ACME) Run(ctx context.Context) error {
	work := group.New(ctx, a.options.Log)
	for _, host := range a.hosts {
		work.Start("certificate of "+host.name, func(ctx context.Context) { a.keep(ctx, host) })
	}
	return work.Wait()
}

// keep obtains the certificate of a host, and then follows its renewals, which the manager does by itself.
func (a *ACME) keep(ctx context.Context, host *acmeHost) {
	for wait := retryFirst; ; wait = min(2*wait, retryLast) {
		err := a.first(ctx, host)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		a.options.Log.Error("no certificate was obtained; clients can't connect", "host", host.name, "cause", err, "next_try_in", wait)
		if !group.Sleep(ctx, wait, nil) {
			return
		}
	}
	group.Every(ctx, checkEvery, func(context.Context) { _ = a.refresh(host) }) // from memory: it does not fail
}

// first is refresh, but a stop does not wait for the authority.
func (a *ACME) first(ctx context.Context, host *acmeHost) error {
	done := make(chan error, 1)
	go func() {
		done <- group.Contain(a.options.Log, "certificate of "+host.name, func() error { return a.refresh(host) })
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refresh reads the certificate of a host from the manager, which obtains it the first time.
func (a *ACME) refresh(host *acmeHost) error {
	c, err := a.manager.GetCertificate(helloFor(host.name))
	if err == nil && host.set(c) {
		a.options.Log.Info("serving a certificate", "host", host.name, "expires", c.Leaf.NotAfter.UTC())
	}
	select {
	case <-host.tried:
	default:
		close(host.tried)
	}
	if err != nil {
		return err
	}
	host.expiry.check(c.Leaf, a.options.Now())
	return nil
}

// await waits for the first attempt, for a short time, and reports whether there is a certificate.
func (h *acmeHost) await(ctx context.Context) bool {
	if h.get() != nil {
		return true
	}
	ctx, stop := context.WithTimeout(ctx, firstWait)
	defer stop()
	select {
	case <-h.tried:
	case <-ctx.Done():
	}
	return h.get() != nil
}

func (h *acmeHost) get() *tls.Certificate {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// set reports whether c is another certificate than before.
func (h *acmeHost) set(c *tls.Certificate) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.current == nil || !h.current.Leaf.Equal(c.Leaf)
	h.current = c
	return changed
}
