package license_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

func revokedList() license.Revoked {
	return license.Revoked{
		Issuer: "https://store.example", IssuedAt: start, Expires: start.Add(24 * time.Hour), IDs: []string{"a", "b"},
	}
}

func mustSignRevoked(t testing.TB, r license.Revoked, key license.SigningKey) string {
	t.Helper()
	return must.Get(license.SignRevoked(r, key))(t)
}

func TestOpenRevokedGivesWhatWasSigned(t *testing.T) {
	key := newKey(t)
	got, err := license.OpenRevoked(mustSignRevoked(t, revokedList(), key), newSet(t, key), start)
	if diff := cmp.Diff(revokedList(), got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	if !got.Has("b") || got.Has("c") {
		t.Error("it does not know who is on it")
	}
}

func TestAnEmptyListIsAList(t *testing.T) {
	key, r := newKey(t), revokedList()
	r.IDs = nil
	got, err := license.OpenRevoked(mustSignRevoked(t, r, key), newSet(t, key), start)
	if err != nil || len(got.IDs) != 0 {
		t.Errorf("%v %v", got, err)
	}
}

func TestAListOfAHundredThousandLicensesOpens(t *testing.T) {
	key, r := newKey(t), revokedList()
	for i := range 100_000 {
		r.IDs = append(r.IDs, fmt.Sprintf("0b6c6f0e-7d2f-4b1e-9a53-%012d", i))
	}
	got, err := license.OpenRevoked(mustSignRevoked(t, r, key), newSet(t, key), start)
	if err != nil || !got.Has("0b6c6f0e-7d2f-4b1e-9a53-000000099999") {
		t.Errorf("%d ids, %v", len(got.IDs), err)
	}
}

func TestALicenseIsNotARevokedList(t *testing.T) {
	key := newKey(t)
	_, err := license.OpenRevoked(mustSign(t, rain(), key), newSet(t, key), start)
	if err == nil || !strings.Contains(err.Error(), "it is not a revoked list") {
		t.Error(err)
	}
}

func TestOpenRevokedRefuses(t *testing.T) {
	key, stranger := newKey(t), newKey(t)
	list := mustSignRevoked(t, revokedList(), key)
	tests := []struct {
		name string
		text string
		at   time.Time
		want error
	}{
		{"a license", mustSign(t, rain(), key), start, license.ErrType},
		{"another store's list", mustSignRevoked(t, revokedList(), stranger), start, license.ErrUnknownKey},
		{"a changed list", list[:len(list)-10] + "AAAAAAAAAA", start, license.ErrSignature},
		{"a list that is too old", list, start.Add(24 * time.Hour), license.ErrExpired},
		{"no list", "", start, license.ErrNotCompact},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := license.OpenRevoked(tt.text, newSet(t, key), tt.at); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

func TestSignRevokedWantsIssuerAndTimes(t *testing.T) {
	for name, change := range map[string]func(*license.Revoked){
		"no issuer":               func(r *license.Revoked) { r.Issuer = "" },
		"no time of issue":        func(r *license.Revoked) { r.IssuedAt = time.Time{} },
		"no end":                  func(r *license.Revoked) { r.Expires = time.Time{} },
		"an id that is not UTF-8": func(r *license.Revoked) { r.IDs = []string{"\xff"} },
	} {
		r := revokedList()
		change(&r)
		if _, err := license.SignRevoked(r, newKey(t)); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
}
