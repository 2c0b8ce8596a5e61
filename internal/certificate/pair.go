package certificate

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/regular"
)

// maxFile is how many bytes a file with a certificate or a key may have.
const maxFile = 1 << 20

// The codes of errors about files with a certificate and its key.
const (
	CodeUnreadable   = "tls_file_unreadable"
	CodeInvalid      = "tls_file_invalid"
	CodeKeyEncrypted = "tls_key_encrypted"
	CodeMismatch     = "tls_key_mismatch"
)

// A pair is the text of a certificate and of its key.
type pair struct{ certificate, key []byte }

func (p pair) equal(other pair) bool {
	return bytes.Equal(p.certificate, other.certificate) && bytes.Equal(p.key, other.key)
}

func readPair(certificate, key string) (p pair, err error) {
	if p.certificate, err = readFile(certificate); err != nil {
		return pair{}, err
	}
	if p.key, err = readFile(key); err != nil {
		return pair{}, err
	}
	return p, nil
}

// readFile reads a regular file.
func readFile(path string) ([]byte, error) {
	unreadable := func(why any) error {
		return fault.Invalid(CodeUnreadable, fmt.Sprintf("can't read %s: %v", path, why))
	}
	text, err := regular.Read(path, maxFile)
	switch {
	case err != nil:
		return nil, unreadable(fault.FileReason(err))
	case len(text) > maxFile:
		return nil, unreadable("it is larger than 1 MiB")
	}
	return text, nil
}

// parse checks that the two belong together. The paths are for its errors, which never contain a part of the key.
func (p pair) parse(certificate, key string) (*tls.Certificate, error) {
	if !hasBlock(p.certificate, isCertificate) {
		return nil, fault.Invalid(CodeInvalid, certificate+" has no certificate: expected PEM text with CERTIFICATE blocks, the server's own first")
	}
	switch {
	case hasBlock(p.key, isEncrypted):
		return nil, fault.Invalid(CodeKeyEncrypted, key+" is encrypted with a passphrase, which the server can't ask for")
	case !hasBlock(p.key, isKey):
		return nil, fault.Invalid(CodeInvalid, key+" has no private key: expected PEM text with a PRIVATE KEY block")
	}
	parsed, err := tls.X509KeyPair(p.certificate, p.key)
	switch {
	case err == nil:
		return &parsed, nil
	case strings.Contains(err.Error(), "does not match"):
		return nil, fault.Invalid(CodeMismatch, fmt.Sprintf("the key in %s does not belong to the certificate in %s", key, certificate))
	}
	return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("%s and %s can't be used: %s", certificate, key, strings.TrimPrefix(err.Error(), "tls: ")))
}

// hasBlock reports whether text has a PEM block for which is returns true.
func hasBlock(text []byte, is func(*pem.Block) bool) bool {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return false
		}
		if is(block) {
			return true
		}
		text = rest
	}
}

func isCertificate(b *pem.Block) bool { return b.Type == "CERTIFICATE" }

func isKey(b *pem.Block) bool { return strings.HasSuffix(b.Type, "PRIVATE KEY") }

func isEncrypted(b *pem.Block) bool {
	return b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED")
}
