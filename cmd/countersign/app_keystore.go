package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
	"software.sslmate.com/src/go-pkcs12"
)

// The owner's Android signing key (spec 8).
const (
	keystoreBits = 2048
	keystoreDays = 10_000
	// keystoreIterations is what a guess at the password costs, ten times what keytool takes.
	keystoreIterations = 100_000
	// keystoreAlias is the name that Java gives the only key of a file that names none.
	keystoreAlias = "1"
)

func newAppKeystore(a *app) *cobra.Command {
	var out, name, passwordFile string
	c := &cobra.Command{
		Use: "keystore", Short: "Create your own Android signing key", Args: cli.Args(),
		Long: `Create your own Android signing key: RSA with 2048 bits and a self-signed certificate that is
valid for 10,000 days, in a PKCS#12 file for Gradle and keytool.

An app can only be updated with the key that signed it first. Create it once, and store the
file and its password safely. An existing file is never overwritten.`,
		Example: `  countersign app keystore --out upload-keystore.p12 --name "Ada Byron"
  countersign app keystore --out upload-keystore.p12 --password-file password.txt`,
		PreRunE: cli.Require("out", "name"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.makeKeystore(c.Context(), out, name, passwordFile) },
	}
	fs := c.Flags()
	fs.StringVar(&out, "out", "upload-keystore.p12", "the `file` to create")
	fs.StringVar(&name, "name", "Android", "your `name`, or your company's, in the certificate")
	fs.StringVar(&passwordFile, "password-file", "", "a `file` with the password, or - for stdin (default ask for it)")
	return c
}

func (a *app) makeKeystore(ctx context.Context, out, name, passwordFile string) error {
	if _, err := os.Lstat(a.Path(out)); err == nil {
		return errKeystoreExists(out)
	}
	password, err := a.NewPassword(ctx, passwordFile, "Password for the new key: ", "Repeat the password: ", checkKeystorePassword)
	if err != nil {
		return err
	}
	text, cert, err := newKeystore(name, password, a.Now())
	if err != nil {
		return err
	}
	switch err := a.writeNew(out, text, 0o600); {
	case os.IsExist(err):
		return errKeystoreExists(out)
	case err != nil:
		return cli.Fail(cli.ExitFailed, "file_unwritable", fmt.Sprintf("%s can't be written (%v); name a file in a folder that this user can write to", out, fault.FileReason(err)))
	}
	if absolute, err := filepath.Abs(a.Path(out)); err == nil {
		out = absolute
	}
	sha1, sha256 := sha1.Sum(cert.Raw), sha256.Sum256(cert.Raw)
	err = a.Show(keystoreView{out, keystoreAlias, countersign.At(cert.NotAfter), fingerprint(sha1[:]), fingerprint(sha256[:])}, nil)
	if err == nil && !a.JSON {
		a.Say("\nPut the file, the alias and the password into android/key.properties, and keep a copy of file and password: an app can't be updated without them.")
	}
	return err
}

func errKeystoreExists(path string) error {
	return cli.Fail(cli.ExitConflict, "file_exists", fmt.Sprintf("%s already exists and is not overwritten; use it, or name another file with --out", path))
}

// newKeystore creates a key and packs it with its certificate.
func newKeystore(name, password string, now time.Time) ([]byte, *x509.Certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, keystoreBits)
	if err != nil {
		return nil, nil, fmt.Errorf("create a signing key: %w", err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SignatureAlgorithm: x509.SHA256WithRSA,
		NotBefore: now, NotAfter: now.Add(keystoreDays * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, fmt.Errorf("create a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("create a certificate: %w", err)
	}
	text, err := pkcs12.Modern.WithIterations(keystoreIterations).Encode(key, cert, nil, password)
	if err != nil {
		return nil, nil, fmt.Errorf("pack the signing key: %w", err)
	}
	return text, cert, nil
}

// writeNew writes a file that did not exist.
func (a *app) writeNew(path string, text []byte, mode os.FileMode) error {
	path = a.Path(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(path) // half a file is none
	}
	return err
}

type keystoreView struct {
	File       string                `json:"file" card:"1,file"`
	Alias      string                `json:"alias" card:"2,alias"`
	ValidUntil countersign.Timestamp `json:"valid_until" card:"3,valid until,day"`
	SHA1       string                `json:"sha1" card:"4,SHA-1"`
	SHA256     string                `json:"sha256" card:"5,SHA-256"`
}

// fingerprint writes a digest as app stores show it: 0A:1B:…
func fingerprint(digest []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", digest), " ", ":")
}

// checkKeystorePassword holds passwords to what keytool and Gradle can do with.
func checkKeystorePassword(password string) error {
	if len(password) < 6 || strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r > '~' }) {
		return cli.Fail(cli.ExitUsage, "usage", "invalid password: use at least 6 characters, only ones on a US keyboard")
	}
	return nil
}
