package addontest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"sync"
)

// Key is an RSA key. It is made once: to make one takes a while.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// PrivateKey is a private key as a service-account file has it.
func PrivateKey(key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// ServiceAccount is a service-account file with [Key]; members replace its own, nil ones go.
func ServiceAccount(members map[string]any) []byte {
	file := map[string]any{
		"type": "service_account", "project_id": "tuneful-1", "private_key_id": "0a1b", "private_key": PrivateKey(Key()),
		"client_email": "billing@tuneful-1.iam.example", "client_id": "1234567890", "token_uri": "https://oauth2.googleapis.com/token",
	}
	for name, value := range members {
		if value == nil {
			delete(file, name)
			continue
		}
		file[name] = value
	}
	text, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return text
}
