package play

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeyBytes = 256 << 10
	maxKeys     = 50
	// minKeyAge is the shortest time between two requests for the keys, so that made-up key ids
	// cause no traffic. maxKeyAge is the longest time that keys are cached.
	minKeyAge = time.Minute
	maxKeyAge = 24 * time.Hour
	// keyRetry is the shortest time between two requests while they fail.
	keyRetry = 5 * time.Second
)

// keySource caches Google's public keys for as long as Google says.
type keySource struct {
	url    string
	client *http.Client
	now    func() time.Time

	turn    chan struct{} // held while the fields below are read or replaced
	keys    map[string]*rsa.PublicKey
	fetched time.Time
	expires time.Time
	failed  time.Time
}

// get returns the key with an id. Its error is an [Error].
func (s *keySource) get(ctx context.Context, id string) (*rsa.PublicKey, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, &Error{Reason: Unavailable, Cause: ctx.Err()}
	}
	defer func() { <-s.turn }()
	now := s.now()
	fresh := s.keys != nil && now.Before(s.expires)
	if key := s.keys[id]; fresh && key != nil {
		return key, nil
	}
	if fresh && now.Before(s.fetched.Add(minKeyAge)) {
		return nil, refusePush("unknown key")
	}
	if now.Before(s.failed.Add(keyRetry)) {
		return nil, &Error{Reason: Unavailable, RetryAfter: keyRetry, Cause: errors.New("the keys of Google could not be read a moment ago")}
	}
	if err := s.fetch(ctx); err != nil {
		if ctx.Err() == nil {
			s.failed = now
		}
		return nil, err
	}
	if key := s.keys[id]; key != nil {
		return key, nil
	}
	return nil, refusePush("unknown key")
}

// fetch replaces the keys.
func (s *keySource) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return &Error{Reason: Refused, Cause: errors.New("invalid address of Google's keys")}
	}
	response, err := s.client.Do(r)
	if err != nil {
		return failureOf(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeyBytes))
	if err != nil {
		return failureOf(ctx, err)
	}
	keys := readKeys(body)
	if response.StatusCode != http.StatusOK || len(keys) == 0 {
		return &Error{Reason: Unavailable, Cause: errors.New("no keys from Google: status " + response.Status)}
	}
	s.keys, s.fetched = keys, s.now()
	s.expires = s.fetched.Add(maxAge(response.Header))
	return nil
}

// readKeys returns the RSA keys of a key set by their ids.
func readKeys(body []byte) map[string]*rsa.PublicKey {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil || len(set.Keys) > maxKeys {
		return nil
	}
	keys := map[string]*rsa.PublicKey{}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		// Keys of kinds that Google has added since are left out.
		if json.Unmarshal(raw, &key) != nil || key.KeyID == "" {
			continue
		}
		if public, ok := key.Key.(*rsa.PublicKey); ok && public.N.BitLen() >= 2048 {
			keys[key.KeyID] = public
		}
	}
	return keys
}

// maxAge returns how long an answer may be cached.
func maxAge(header http.Header) time.Duration {
	for part := range strings.SplitSeq(header.Get("Cache-Control"), ",") {
		text, found := strings.CutPrefix(strings.TrimSpace(part), "max-age=")
		if seconds, err := strconv.ParseInt(text, 10, 32); found && err == nil {
			return min(max(time.Duration(seconds)*time.Second, minKeyAge), maxKeyAge)
		}
	}
	return minKeyAge
}
