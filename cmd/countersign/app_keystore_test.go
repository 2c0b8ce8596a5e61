package main

import (
	"crypto/rsa"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"software.sslmate.com/src/go-pkcs12"
)

// makeKeystore creates a signing key as a person does, who types the password twice.
func makeKeystore(t *testing.T, password string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "upload.p12")
	r := asPerson(t, t.Context(), t.TempDir(), password+"\n"+password+"\n", "app", "keystore", "--out", path, "--name", "Ada Byron")
	if r.code != cli.ExitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if strings.Contains(r.out+r.err, password) {
		t.Fatalf("the password is printed: %s%s", r.out, r.err)
	}
	return path
}

func TestTheSigningKeyIsRSA2048AndValidFor10000Days(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(makeKeystore(t, "correct horse")))(t)
	if _, _, err := pkcs12.Decode(text, "wrong horse"); err == nil {
		t.Error("it opens with another password")
	}
	private, cert, err := pkcs12.Decode(text, "correct horse")
	must.Do(t, err)
	key, ok := private.(*rsa.PrivateKey)
	if !ok || key.N.BitLen() != 2048 || !key.PublicKey.Equal(cert.PublicKey) {
		t.Errorf("the key is a %T", private)
	}
	if valid := cert.NotAfter.Sub(cert.NotBefore); valid != 10_000*24*time.Hour || !cert.NotBefore.Equal(fixedNow()) {
		t.Errorf("valid from %s for %s", cert.NotBefore, valid)
	}
	if cert.SignatureAlgorithm != x509.SHA256WithRSA || cert.Subject.String() != "CN=Ada Byron" || cert.Issuer.String() != "CN=Ada Byron" {
		t.Errorf("%v, subject %v, issuer %v", cert.SignatureAlgorithm, cert.Subject, cert.Issuer)
	}
	if err := cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature); err != nil {
		t.Error(err)
	}
}

func TestJavaFindsTheSigningKeyUnderTheAliasThatIsPrinted(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "keytool")
	path := makeKeystore(t, "correct horse")
	out, err := exec.Command("keytool", "-list", "-keystore", path, "-storetype", "PKCS12", "-storepass", "correct horse", "-alias", keystoreAlias).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PrivateKeyEntry") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTwoPasswordsThatDifferMakeNoSigningKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "upload.p12")
	r := asPerson(t, t.Context(), t.TempDir(), "correct horse\ncorrect house\n", "app", "keystore", "--out", path)
	if r.code != cli.ExitUsage || !strings.Contains(r.err, "not the same") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if isFile(path) {
		t.Error("a file was made")
	}
}

func TestAPasswordThatToolsCanNotReadIsRefusedBeforeItIsAskedForAgain(t *testing.T) {
	for _, password := range []string{"short", "pässwort", ""} {
		r := asPerson(t, t.Context(), t.TempDir(), password+"\n", "app", "keystore", "--out", filepath.Join(t.TempDir(), "upload.p12"))
		if r.code != cli.ExitUsage || strings.Contains(r.err, "Repeat the password") {
			t.Errorf("%q: exit %d: %s", password, r.code, r.err)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
