package certificate

import (
	"crypto/x509"
	"log/slog"
	"time"
)

// warnEvery is how often the log repeats that a certificate expires.
const warnEvery = 24 * time.Hour

// maxSoon is how long before its end a certificate expires soon, at most.
const maxSoon = 14 * 24 * time.Hour

// ExpiresSoon reports whether a certificate expires within 14 days, or within a sixth of its lifetime if that is
// shorter. Programs that renew certificates do so earlier.
func ExpiresSoon(leaf *x509.Certificate, now time.Time) bool {
	soon := min(leaf.NotAfter.Sub(leaf.NotBefore)/6, maxSoon)
	return leaf.NotAfter.Sub(now) < soon
}

// An expiryLog warns once a day about a certificate that expires.
type expiryLog struct {
	log  *slog.Logger
	last time.Time
	of   *x509.Certificate
}

func (e *expiryLog) check(leaf *x509.Certificate, now time.Time) {
	if !ExpiresSoon(leaf, now) || leaf == e.of && now.Sub(e.last) < warnEvery {
		return
	}
	e.of, e.last = leaf, now
	if now.After(leaf.NotAfter) {
		e.log.Error("the certificate has expired; clients refuse it", "names", leaf.DNSNames, "expired", leaf.NotAfter.UTC())
		return
	}
	e.log.Warn("the certificate expires soon and was not renewed", "names", leaf.DNSNames, "expires", leaf.NotAfter.UTC())
}
