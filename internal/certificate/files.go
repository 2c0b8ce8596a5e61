// Package certificate has the certificates of a server that does TLS itself: from two files that are read again when
// they change, or from a certificate authority by ACME (RFC 8555).
package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

// lookEvery is how often the files are read.
const lookEvery = time.Second

// FileOptions configures [OpenFiles].
type FileOptions struct {
	// Certificate and Key are paths of PEM files: the certificate followed by its chain, and its private key.
	Certificate, Key string
	// Log receives what changes, and why a changed pair is not used.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Files is a certificate and its private key in two files.
type Files struct {
	options FileOptions
	current atomic.Pointer[tls.Certificate]
	expiry  expiryLog
	served  pair
	// seen is what the last look has found in changed files.
	seen pair
	// refused is why the files are not used, "" when they are; logged reports that the log has it.
	refused string
	logged  bool
}

// OpenFiles reads a certificate and its key. Its errors are of kind Invalid and name the file.
func OpenFiles(o FileOptions) (*Files, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Files{options: o, expiry: expiryLog{log: o.Log}}
	var err error
	if f.served, err = readPair(o.Certificate, o.Key); err != nil {
		return nil, err
	}
	parsed, err := f.served.parse(o.Certificate, o.Key)
	if err != nil {
		return nil, err
	}
	f.current.Store(parsed)
	return f, nil
}

// TLS returns the configuration of a listener that serves the certificate.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return f.current.Load(), nil
	}}
}

// Validity returns from when until when the certificate that is served is valid.
func (f *Files) Validity() (begin, end time.Time) {
	leaf := f.current.Load().Leaf
	return leaf.NotBefore, leaf.NotAfter
}

// Run serves changed files until ctx ends, and logs when the certificate is about to expire.
func (f *Files) Run(ctx context.Context) error {
	for {
		f.look()
		f.expiry.check(f.current.Load().Leaf, f.options.Now())
		if !group.Sleep(ctx, lookEvery, nil) {
			return nil
		}
	}
}

// look reads the files and serves them when they have changed, and two looks have found the same: until then, the program
// that renews them may have written only a part.
func (f *Files) look() {
	o := f.options
	read, err := readPair(o.Certificate, o.Key)
	if err == nil && read.equal(f.served) {
		f.refused, f.seen = "", pair{}
		return
	}
	if err == nil && !read.equal(f.seen) {
		f.seen = read
		return
	}
	var parsed *tls.Certificate
	if err == nil {
		parsed, err = read.parse(o.Certificate, o.Key)
	}
	if err == nil {
		err = f.compare(parsed)
	}
	if err != nil {
		f.refuse(fault.Message(err))
		return
	}
	f.served, f.refused = read, ""
	f.current.Store(parsed)
	o.Log.Info("serving a changed certificate", "file", o.Certificate, "expires", parsed.Leaf.NotAfter.UTC())
}

// compare is an error for a changed certificate that clients refuse by their clocks, while they accept the one in use.
func (f *Files) compare(changed *tls.Certificate) error {
	now := f.options.Now()
	valid := func(c *tls.Certificate) bool { return !now.Before(c.Leaf.NotBefore) && !now.After(c.Leaf.NotAfter) }
	if valid(changed) || !valid(f.current.Load()) {
		return nil
	}
	return fault.Invalid(CodeInvalid, fmt.Sprintf("%s is valid from %s to %s, and it is %s", f.options.Certificate,
		changed.Leaf.NotBefore.UTC().Format(time.RFC3339), changed.Leaf.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
}

// refuse logs once why changed files are not used, at the second look that finds the same reason.
func (f *Files) refuse(why string) {
	if f.refused != why {
		f.refused, f.logged = why, false
		return
	}
	if !f.logged {
		f.logged = true
		f.options.Log.Warn("the changed certificate is not used; the one before it stays in use", "why", why, "expires", f.current.Load().Leaf.NotAfter.UTC())
	}
}
