package play

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
)

// maxAccountBytes is the size of the largest service-account file that is read.
const maxAccountBytes = 64 << 10

// account is the part of a service-account file that signs. The file's token_uri is left
// out on purpose: a file must not choose who receives what the key has signed.
type account struct {
	email string
	keyID string
	key   *rsa.PrivateKey
}

// parseAccount reads a service-account file. Its errors never quote what they read.
func parseAccount(file []byte) (account, error) {
	var f struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKeyID string `json:"private_key_id"`
		PrivateKey   string `json:"private_key"`
	}
	if len(file) == 0 || len(file) > maxAccountBytes {
		return account{}, errors.New("no service account")
	}
	if json.Unmarshal(bytes.TrimPrefix(bytes.TrimSpace(file), []byte("\xef\xbb\xbf")), &f) != nil {
		return account{}, errors.New("the service account is not valid JSON")
	}
	if f.Type != "service_account" || f.ClientEmail == "" {
		return account{}, errors.New("the file is not a service account")
	}
	key, err := parseKey(f.PrivateKey)
	if err != nil {
		return account{}, err
	}
	return account{email: f.ClientEmail, keyID: f.PrivateKeyID, key: key}, nil
}

// KeyText returns the PEM text of a service account's private key. Its line breaks may have been escaped twice, by a tool
// that the file was pasted into.
func KeyText(privateKey string) []byte {
	return []byte(strings.NewReplacer(`\r`, "", `\n`, "\n").Replace(privateKey))
}

// parseKey reads the private key of a service account.
func parseKey(text string) (*rsa.PrivateKey, error) {
	unusable := errors.New("the private key of the service account is not usable")
	block, _ := pem.Decode(KeyText(text))
	if block == nil {
		return nil, unusable
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, unusable
		}
		key, _ = parsed.(*rsa.PrivateKey)
	}
	if key == nil || key.N.BitLen() < 2048 {
		return nil, unusable
	}
	return key, nil
}
