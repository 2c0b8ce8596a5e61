package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

var noon = time.Date(2026, 4, 27, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// logged returns a log and what is written to it.
func logged() (*slog.Logger, *bytes.Buffer) {
	out := new(bytes.Buffer)
	return slog.New(slog.NewTextHandler(out, nil)), out
}

func write(t *testing.T, path string, text []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, text, 0o600))
	return path
}

// served returns the certificate of a handshake.
func served(t *testing.T, f *Files) *x509.Certificate {
	t.Helper()
	c := must.Get(f.TLS().GetCertificate(nil))(t)
	return c.Leaf
}

func TestFilesThatCantBeUsedAreNamedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	first, other := webtest.NewCertificate(t, noon.Add(60*day), "shop.example"), webtest.NewCertificate(t, noon.Add(60*day), "shop.example")
	cert, key := first.Write(t, dir)
	at := func(name string, text []byte) string { return write(t, filepath.Join(dir, name), text) }
	block := func(kind, headers string) []byte {
		b := &pem.Block{Type: kind, Bytes: []byte("secret")}
		if headers != "" {
			b.Headers = map[string]string{"Proc-Type": headers}
		}
		return pem.EncodeToMemory(b)
	}
	for _, tt := range []struct{ name, cert, key, code, says string }{
		{"no certificate file", filepath.Join(dir, "none"), key, CodeUnreadable, "none: no such file"},
		{"no key file", cert, filepath.Join(dir, "none"), CodeUnreadable, "none: no such file"},
		{"a folder", dir, key, CodeUnreadable, "not a regular file"},
		{"a device without an end", "/dev/zero", key, CodeUnreadable, "not a regular file"},
		{"a file too large", at("large", make([]byte, maxFile+1)), key, CodeUnreadable, "larger than 1 MiB"},
		{"an empty certificate", at("empty", nil), key, CodeInvalid, "empty has no certificate"},
		{"the two exchanged", key, cert, CodeInvalid, "key.pem has no certificate"},
		{"the certificate twice", cert, cert, CodeInvalid, "cert.pem has no private key"},
		{"a certificate that is cut off", at("cut", first.PEM[:len(first.PEM)/2]), key, CodeInvalid, "cut has no certificate"},
		{"a certificate of something else", at("else", block("CERTIFICATE", "")), key, CodeInvalid, "can't be used"},
		{"a key with a passphrase", cert, at("sealed", block("ENCRYPTED PRIVATE KEY", "")), CodeKeyEncrypted, "passphrase"},
		{"a key with a passphrase in the old form", cert, at("old", block("EC PRIVATE KEY", "4,ENCRYPTED")), CodeKeyEncrypted, "passphrase"},
		{"the key of another certificate", cert, at("other", other.Key), CodeMismatch, "does not belong to the certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := OpenFiles(FileOptions{Certificate: tt.cert, Key: tt.key})
			if !fault.HasCode(err, tt.code) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAChangedPairIsServed(t *testing.T) {
	first, second := webtest.NewCertificate(t, noon.Add(20*day), "shop.example"), webtest.NewCertificate(t, noon.Add(80*day), "shop.example")
	for name, change := range map[string]func(t *testing.T, dir string){
		"written in place": func(t *testing.T, dir string) { second.Write(t, dir) },
		"by a symbolic link, as certbot does": func(t *testing.T, dir string) {
			newer := t.TempDir()
			second.Write(t, newer)
			for _, file := range []string{"cert.pem", "key.pem"} {
				link := filepath.Join(dir, file)
				must.Do(t, os.Symlink(filepath.Join(newer, file), link+".new"))
				must.Do(t, os.Rename(link+".new", link))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cert, key := first.Write(t, dir)
			log, out := logged()
			f := must.Get(OpenFiles(FileOptions{Certificate: cert, Key: key, Log: log}))(t)
			f.look()
			if !served(t, f).Equal(first.Leaf) || out.Len() > 0 {
				t.Errorf("without a change: %s", out)
			}
			change(t, dir)
			if f.look(); !served(t, f).Equal(first.Leaf) {
				t.Error("the files are served at the first look, when they may be written in part")
			}
			f.look()
			begin, end := f.Validity()
			if !served(t, f).Equal(second.Leaf) || !begin.Equal(second.Leaf.NotBefore) || !end.Equal(second.Leaf.NotAfter) || !strings.Contains(out.String(), "serving a changed certificate") {
				t.Errorf("after it: %s", out)
			}
		})
	}
}

func TestAPairThatCantBeUsedLeavesTheEarlierOneAndIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	first, second := webtest.NewCertificate(t, noon.Add(20*day), "shop.example"), webtest.NewCertificate(t, noon.Add(80*day), "shop.example")
	cert, key := first.Write(t, dir)
	log, out := logged()
	f := must.Get(OpenFiles(FileOptions{Certificate: cert, Key: key, Log: log}))(t)
	write(t, cert, second.PEM)
	f.look()
	f.look()
	if out.Len() > 0 || !served(t, f).Equal(first.Leaf) {
		t.Errorf("while the second file is missing: %s", out)
	}
	f.look()
	f.look()
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "does not belong") || !served(t, f).Equal(first.Leaf) {
		t.Errorf("when it stays so: %s", got)
	}
	must.Do(t, os.Remove(key))
	f.look()
	f.look()
	f.look()
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "no such file") {
		t.Errorf("another reason: %s", got)
	}
	write(t, key, second.Key)
	f.look()
	f.look()
	if !served(t, f).Equal(second.Leaf) {
		t.Errorf("complete again, and not served: %s", out)
	}
}

func TestACertificateThatClientsRefuseDoesNotReplaceOneThatTheyAccept(t *testing.T) {
	now := noon
	current := webtest.NewCertificate(t, noon.Add(20*day), "shop.example")
	for name, changed := range map[string]webtest.Certificate{
		"it has expired":      webtest.NewCertificate(t, noon.Add(-day), "shop.example"),
		"it is not yet valid": webtest.NewCertificate(t, noon.Add(91*day), "shop.example"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cert, key := current.Write(t, dir)
			log, out := logged()
			f := must.Get(OpenFiles(FileOptions{Certificate: cert, Key: key, Log: log, Now: func() time.Time { return now }}))(t)
			changed.Write(t, dir)
			for range 3 {
				f.look()
			}
			if !served(t, f).Equal(current.Leaf) || !strings.Contains(out.String(), "is valid from") {
				t.Errorf("served instead: %s", out)
			}
			now = noon.Add(30 * day)
			defer func() { now = noon }()
			if f.look(); !served(t, f).Equal(changed.Leaf) {
				t.Errorf("not served when the earlier one has expired: %s", out)
			}
		})
	}
}

func TestTheLogWarnsOnceADayBeforeACertificateExpires(t *testing.T) {
	dir := t.TempDir()
	cert, key := webtest.NewCertificate(t, noon.Add(15*day), "shop.example").Write(t, dir)
	log, out := logged()
	now := noon
	f := must.Get(OpenFiles(FileOptions{Certificate: cert, Key: key, Log: log, Now: func() time.Time { return now }}))(t)
	for _, step := range []struct {
		after time.Duration
		lines int
		says  string
	}{
		{0, 0, ""},
		{day + time.Second, 1, "expires soon"},
		{time.Hour, 1, ""},
		{day, 2, "expires soon"},
		{14 * day, 3, "has expired; clients refuse it"},
	} {
		now = now.Add(step.after)
		f.expiry.check(served(t, f), now)
		if got := out.String(); strings.Count(got, "\n") != step.lines || !strings.Contains(got, step.says) {
			t.Errorf("at %v: %s", now.Sub(noon), got)
		}
	}
}

func TestAShortCertificateExpiresSoonInItsLastSixth(t *testing.T) {
	leaf := &x509.Certificate{NotBefore: noon, NotAfter: noon.Add(6 * day)}
	for after, want := range map[time.Duration]bool{4 * day: false, 5*day + time.Second: true, 7 * day: true} {
		expect.Equalf(t, ExpiresSoon(leaf, noon.Add(after)), want, "after %v", after)
	}
}

func TestTLSBegins12(t *testing.T) {
	expect.Equalf(t, (&Files{}).TLS().MinVersion, tls.VersionTLS12, "minimum")
}
