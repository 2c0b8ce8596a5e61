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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
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
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// Server returns the configuration of a server that has the certificate.
func (c Certificate) Server(t testing.TB) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(c.PEM, c.Key)
	if err != nil {
		t.Fatal(err)
	}
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
