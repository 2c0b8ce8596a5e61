package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/countersign/countersign/internal/certificate"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/web"
)

// acmeFolder is the folder of the data folder that keeps what a certificate authority issued.
const acmeFolder = "acme"

// redirectConnections is how many connections of plain HTTP are redirected at once: they take from the descriptors that
// the others leave.
const redirectConnections = 32

// certificates are those of a server that does TLS itself.
type certificates interface {
	TLS() *tls.Config
	// Validity returns the validity of the certificate that expires first, zero times while one is missing.
	Validity() (begin, end time.Time)
	Run(context.Context) error
}

// openTLS reads the certificate, or prepares to obtain one.
func (l *server) openTLS(dir string) error {
	o := l.options.tls
	switch {
	case !o.on():
		return nil
	case o.certificate != "":
		files, err := certificate.OpenFiles(certificate.FileOptions{Certificate: l.app.Path(o.certificate), Key: l.app.Path(o.key), Log: l.log, Now: l.app.Now})
		if err != nil {
			return err
		}
		l.certificates = files
		l.warnOfExposedKey(l.app.Path(o.key))
		return nil
	}
	issued, err := newACME(o, filepath.Join(dir, acmeFolder), l.log, l.app.Now)
	if err != nil {
		return err
	}
	l.certificates, l.challenges = issued, issued.Challenges
	return nil
}

func newACME(o tlsOptions, folder string, log *slog.Logger, now func() time.Time) (*certificate.ACME, error) {
	return certificate.NewACME(certificate.ACMEOptions{
		Hosts: o.hosts, Email: o.email, Directory: o.directory, Folder: folder, Log: log, Now: now,
	})
}

// warnOfExposedKey logs that every user of the machine can read a private key. A group may: programs that renew
// certificates share keys that way.
func (l *server) warnOfExposedKey(path string) {
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		l.log.Warn(fmt.Sprintf("Other users of this machine can read the key of the certificate (mode %04o)", info.Mode().Perm()),
			"why", "Anyone who has it can pass for this server.", "fix", "chmod o= "+path)
	}
}

// tlsConfig is that of the listener, nil for plain HTTP.
func (l *server) tlsConfig() *tls.Config {
	if l.certificates == nil {
		return nil
	}
	return l.certificates.TLS()
}

// url is where the server can be reached from this machine.
func (l *server) url() string {
	if l.options.tls.on() {
		return "https" + urlOf(l.listener)[len("http"):]
	}
	return urlOf(l.listener)
}

// redirectURL is where plain HTTP is redirected, "" for nowhere.
func (l *server) redirectURL() string {
	if l.redirect == nil {
		return ""
	}
	return urlOf(l.redirect)
}

// serveRedirects answers plain HTTP beside TLS until ctx ends.
func (l *server) serveRedirects(ctx context.Context) error {
	base, err := url.Parse(l.options.baseURL)
	if err != nil {
		return fmt.Errorf("the base URL: %w", err)
	}
	edge := web.NewEdge(web.Options{
		Log: l.log, Access: l.access, Metrics: l.counted, ErrorBody: l.errorBody, TrustedProxies: l.options.proxies, Now: l.app.Now,
	})
	h := frame.StripBase(base.Path, edge.ToHTTPS(l.options.baseURL, l.listener.Addr().(*net.TCPAddr).Port))
	if l.challenges != nil {
		h = l.challenges(h)
	}
	return web.Serve(ctx, l.redirect, h, web.ServerOptions{Log: l.log, TrustedProxies: l.options.proxies, MaxConnections: redirectConnections})
}
