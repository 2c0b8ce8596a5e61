package license_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

func TestAKeySetIsReadAsItWasWritten(t *testing.T) {
	current, earlier := newKey(t), newKey(t)
	set := newSet(t, current, earlier)
	text := must.Get(json.Marshal(set))(t)
	again, err := license.ReadKeySet(text)
	if err != nil || again.Len() != 2 {
		t.Fatalf("%v", err)
	}
	for _, k := range []license.SigningKey{current, earlier} {
		got, ok := again.Key(k.ID())
		if !ok || !bytes.Equal(got.Public, k.Public().Public) {
			t.Errorf("the key %s is %v", k.ID(), got)
		}
	}
	if twice, err := json.Marshal(again); err != nil || !bytes.Equal(text, twice) {
		t.Errorf("%s\n%s\n%v", text, twice, err)
	}
	if bytes.Contains(text, []byte(b64(current.Seed()))) || bytes.Contains(text, []byte(`"d"`)) {
		t.Error("a secret is in the key set")
	}
}

func TestASigningKeyComesBackFromItsSeed(t *testing.T) {
	key := newKey(t)
	again, err := license.SigningKeyFromSeed(key.Seed())
	if err != nil || again.ID() != key.ID() || mustSign(t, rain(), again) != mustSign(t, rain(), key) {
		t.Errorf("another key, %v", err)
	}
	if _, err := license.SigningKeyFromSeed(key.Seed()[:31]); err == nil {
		t.Error("31 bytes are a key")
	}
}

func TestNoWayOfPrintingShowsASigningKey(t *testing.T) {
	key := newKey(t)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("key", "key", key)
	text := must.Get(json.Marshal(map[string]any{"key": key}))(t)
	printed := fmt.Sprintf("%v %+v %#v %s %q %x %d", key, key, key, key, key, key, key) + log.String() + string(text)
	want := "license.SigningKey{" + key.ID() + "}"
	expect.Equalf(t, strings.Count(printed, want), 9, "%s", printed)
}

func TestReadKeySet(t *testing.T) {
	x := b64(publicOf(currentKey))
	good := fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":"a","x":%q}`, x)
	tests := []struct {
		name, text string
		keys       int // 0 when it is refused
	}{
		{"a key with no more than it needs", `{"keys":[` + good + `]}`, 1},
		{"members that nobody knows", `{"keys":[` + strings.TrimSuffix(good, "}") + `,"nbf":1,"x5t":"a"}],"cache":true}`, 1},
		{"the algorithm under its newer name", `{"keys":[` + strings.TrimSuffix(good, "}") + `,"alg":"Ed25519"}]}`, 1},
		{"keys of other kinds beside it", `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"OKP","crv":"X25519","x":"AA"},{"kty":"oct"},` + good + `]}`, 1},
		{"a key for encryption", `{"keys":[` + strings.TrimSuffix(good, "}") + `,"use":"enc"}]}`, 0},
		{"a private key", `{"keys":[` + strings.TrimSuffix(good, "}") + fmt.Sprintf(`,"d":%q}]}`, b64(currentKey.Seed())), 0},
		{"a private key of another kind", `{"keys":[` + good + `,{"kty":"RSA","d":"AQAB"}]}`, 0},
		{"no kid", `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}]}`, 0},
		{"a kid that is no text", `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":1,"x":"` + x + `"}]}`, 0},
		{"the same kid twice", `{"keys":[` + good + `,` + strings.Replace(good, x, b64(publicOf(strangerKey)), 1) + `]}`, 0},
		{"the same key twice", `{"keys":[` + good + `,` + strings.Replace(good, `"a"`, `"b"`, 1) + `]}`, 0},
		{"a key too short", `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"` + x[:40] + `"}]}`, 0},
		{"a key that is not base64url", `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"` + x + `="}]}`, 0},
		{"a duplicate member", `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"` + x + `","x":"` + x + `"}]}`, 0},
		{"no keys", `{"keys":[]}`, 0},
		{"no list of keys", `{}`, 0},
		{"a key in place of a set", good, 0},
		{"an answer of another kind", `<html>`, 0},
		{"something after it", `{"keys":[` + good + `]}{}`, 0},
		{"nothing", ``, 0},
		{"a text without an end", `{"keys":[` + good + `]}` + strings.Repeat(" ", 64<<10), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := license.ReadKeySet([]byte(tt.text))
			if tt.keys > 0 {
				if err != nil || set.Len() != tt.keys {
					t.Errorf("%v", err)
				}
				return
			}
			var apiErr *countersign.Error
			if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindInvalid || apiErr.Code != "key_set_invalid" {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAKeySetHasOneTo32Keys(t *testing.T) {
	if _, err := license.NewKeySet(); err == nil {
		t.Error("a set without keys")
	}
	var keys []license.Key
	for range 33 {
		keys = append(keys, newKey(t).Public())
	}
	if _, err := license.NewKeySet(keys...); err == nil {
		t.Error("a set of 33 keys")
	}
	if _, err := license.NewKeySet(keys[:32]...); err != nil {
		t.Error(err)
	}
}

func TestAKeySetKeepsItsOwnKeys(t *testing.T) {
	key := newKey(t)
	public := key.Public()
	set := must.Get(license.NewKeySet(public))(t)
	clear(public.Public)
	if _, err := license.Open(mustSign(t, rain(), key), set, "shop.example", start); err != nil {
		t.Error(err)
	}
}
