package playfake

import (
	"bytes"
	"context"
	"crypto/rsa"
	"io"
	"net/http"
	"time"
)

// Shared is a store whose state is kept elsewhere, for example in a database that several
// processes use.
type Shared struct {
	// Visit runs do with the store as it is now. With write, what do changes is kept, and do
	// may run again. do must not be kept.
	Visit func(ctx context.Context, write bool, do func(*Store) error) error
	// AccountKey is the key of the service account. Access tokens are not part of the state.
	AccountKey *rsa.PrivateKey
	Now        func() time.Time
}

// ServiceAccount returns the JSON file of the service account.
func (s *Shared) ServiceAccount() ([]byte, error) {
	office, err := New(Options{AccountKey: s.AccountKey})
	if err != nil {
		return nil, err
	}
	return office.ServiceAccount()
}

// RoundTrip implements [http.RoundTripper]: a request is answered without a listener, at any host.
func (s *Shared) RoundTrip(r *http.Request) (response *http.Response, err error) {
	if r.URL.Path == "/token" {
		office, err := New(Options{AccountKey: s.AccountKey, Start: s.Now()})
		if err != nil {
			return nil, err
		}
		return office.Transport().RoundTrip(r)
	}
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	err = s.Visit(r.Context(), r.Method != http.MethodGet, func(store *Store) error {
		store.admitted = true
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		response, err = store.Transport().RoundTrip(again)
		return err
	})
	return response, err
}

// readAll reads the body of a request, and closes it.
func readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
}
