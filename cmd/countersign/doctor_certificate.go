package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign/internal/certificate"
	"github.com/countersign/countersign/internal/health"
)

// certificateName is the name of findings about the certificate of a site.
const certificateName = "certificate"

// checkCertificate looks at the certificate with which a site answers, the server's own or that of a web server in front
// of it. For an address without https, it returns no findings.
func checkCertificate(ctx context.Context, client *http.Client, now time.Time, site string) []health.Finding {
	if u, err := url.Parse(site); err != nil || u.Scheme != "https" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, webCheckTime)
	defer cancel()
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, site, nil)
	if err != nil {
		return nil
	}
	answer, err := client.Do(r)
	var refused *tls.CertificateVerificationError
	switch {
	case errors.As(err, &refused):
		return []health.Finding{{
			Name: certificateName, Level: health.Fail, What: fmt.Sprintf("The certificate of %s is not valid: %v", site, refused.Err),
			Why: "Clients refuse to connect.", Fix: "Renew the certificate, and check that its names and its chain are complete.",
		}}
	case err != nil:
		return []health.Finding{{
			Name: certificateName, Level: health.Skipped, What: fmt.Sprintf("The certificate was not checked: %s (%v)", site, webReason(err)),
		}}
	}
	defer answer.Body.Close()
	if answer.TLS == nil {
		return nil // redirected to plain HTTP
	}
	leaf := answer.TLS.PeerCertificates[0]
	until := leaf.NotAfter.UTC().Format(time.RFC3339)
	if certificate.ExpiresSoon(leaf, now) {
		return []health.Finding{{
			Name: certificateName, Level: health.Warn, What: fmt.Sprintf("The certificate of %s expires on %s", site, until),
			Why: "From then on, clients refuse to connect.", Fix: "Find out why it was not renewed: the log of the server or of the program that renews it says more.",
		}}
	}
	return []health.Finding{{Name: certificateName, Level: health.OK, What: fmt.Sprintf("The certificate of %s is valid until %s", site, until)}}
}
