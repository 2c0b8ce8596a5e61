package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// A Certificate is one that a test created, with its key. It is its own authority.
type Certificate struct {
	// PEM and Key are the texts of the files.
	PEM, Key []byte
	Leaf     *x509.Certificate
}

// NewCertificate creates a certificate for hosts, which may be addresses. It is valid until expires, for 90 days.
func NewCertificate(t testing.TB, expires time.Time, hosts ...string) Certificate {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	serial := must.Get(rand.Int(rand.Reader, big.NewInt(1<<62)))(t)
	about := &x509.Certificate{
		SerialNumber: serial, NotBefore: expires.Add(-90 * 24 * time.Hour), NotAfter: expires,
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			about.IPAddresses = append(about.IPAddresses, ip)
		} else {
			about.DNSNames = append(about.DNSNames, host)
		}
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, about, about, key.Public(), key))(t)
	leaf := must.Get(x509.ParseCertificate(der))(t)
	encoded := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	return Certificate{
		PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), Leaf: leaf,
	}
}

// Write writes the files cert.pem and key.pem into a folder and returns their paths.
func (c Certificate) Write(t testing.TB, dir string) (certificate, key string) {
	t.Helper()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, text := range map[string][]byte{certificate: c.PEM, key: c.Key} {
		must.Do(t, os.WriteFile(path, text, 0o600))
	}
	return certificate, key
}

// Server returns the configuration of a server that has the certificate.
func (c Certificate) Server(t testing.TB) *tls.Config {
	t.Helper()
	pair := must.Get(tls.X509KeyPair(c.PEM, c.Key))(t)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// Client returns the configuration of a client that trusts these certificates alone.
func Client(trusted ...Certificate) *tls.Config {
	pool := x509.NewCertPool()
	for _, c := range trusted {
		pool.AddCert(c.Leaf)
	}
	return &tls.Config{RootCAs: pool}
}
