package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/webtest"
)

func TestDoctorLooksAtTheCertificateOfTheSite(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name    string
		expires time.Duration
		host    string
		trusted bool
		level   health.Level
		says    string
	}{
		{"a valid one", 60 * 24 * time.Hour, "127.0.0.1", true, health.OK, "is valid until"},
		{"one that expires soon", 13 * 24 * time.Hour, "127.0.0.1", true, health.Warn, "expires on"},
		{"one that has expired", -time.Hour, "127.0.0.1", true, health.Fail, "expired"},
		{"one for another name", 60 * 24 * time.Hour, "shop.example", true, health.Fail, "not valid"},
		{"one of an unknown authority", 60 * 24 * time.Hour, "127.0.0.1", false, health.Fail, "unknown authority"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := webtest.NewCertificate(t, now.Add(tt.expires), tt.host)
			site := httptest.NewUnstartedServer(http.NotFoundHandler())
			site.TLS = c.Server(t)
			site.Config.ErrorLog = log.New(io.Discard, "", 0)
			site.StartTLS()
			defer site.Close()
			client := tlsClient(t)
			if tt.trusted {
				client = tlsClient(t, c)
			}
			found := checkCertificate(t.Context(), client, now, site.URL)
			if len(found) != 1 || found[0].Level != tt.level || !strings.Contains(found[0].What, tt.says) {
				t.Errorf("found %+v", found)
			}
		})
	}
	for site, want := range map[string]int{"": 0, "http://shop.example": 0, "https://127.0.0.1:1": 1} {
		found := checkCertificate(t.Context(), tlsClient(t), now, site)
		if len(found) != want || want == 1 && found[0].Level != health.Skipped {
			t.Errorf("%q: found %+v", site, found)
		}
	}
}
