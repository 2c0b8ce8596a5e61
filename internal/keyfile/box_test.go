package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func newTestBox(t *testing.T, fill byte) *Box {
	t.Helper()
	return must.Get(newBox(bytes.Repeat([]byte{fill}, keySize)))(t)
}

func TestSealedBytesOpenOnlyAsTheyWereSealed(t *testing.T) {
	box, other := newTestBox(t, 1), newTestBox(t, 2)
	plain := []byte("csk_value")
	sealed := box.Seal("api key", plain)
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	nonce := bytes.Clone(sealed)
	nonce[0] ^= 1
	cases := []struct {
		name    string
		box     *Box
		purpose string
		sealed  []byte
		want    error
	}{
		{"the same purpose and key file open it", box, "api key", sealed, nil},
		{"another purpose does not", box, "seed", sealed, ErrOpen},
		{"another key file does not", other, "api key", sealed, ErrOpen},
		{"changed bytes don't open", box, "api key", changed, ErrOpen},
		{"a changed nonce does not open", box, "api key", nonce, ErrOpen},
		{"cut bytes don't open", box, "api key", sealed[:len(sealed)-1], ErrOpen},
		{"fewer bytes than a nonce don't open", box, "api key", sealed[:5], ErrOpen},
		{"no bytes don't open", box, "api key", nil, ErrOpen},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.box.Open(c.purpose, c.sealed)
			if !errors.Is(err, c.want) || (c.want == nil) != bytes.Equal(got, plain) {
				t.Errorf("%q, %v; want error %v", got, err, c.want)
			}
		})
	}
}

func TestSealingTwiceLooksDifferent(t *testing.T) {
	box := newTestBox(t, 1)
	if bytes.Equal(box.Seal("p", []byte("same")), box.Seal("p", []byte("same"))) {
		t.Error("two sealed values are equal: the nonce is not fresh")
	}
}

func TestSealedBytesDoNotShowThePlainOnes(t *testing.T) {
	if bytes.Contains(newTestBox(t, 1).Seal("p", []byte("plain words")), []byte("plain")) {
		t.Error("the plain text shows")
	}
}

func TestCodeDigestsDependOnTheKeyFileAndTheCode(t *testing.T) {
	box, same, other := newTestBox(t, 1), newTestBox(t, 1), newTestBox(t, 2)
	expect.Equalf(t, box.CodeDigest("a"), same.CodeDigest("a"), "one key file makes two digests of one code")
	if box.CodeDigest("a") == other.CodeDigest("a") {
		t.Error("two key files make the same digest")
	}
	if box.CodeDigest("a") == box.CodeDigest("b") {
		t.Error("two codes have the same digest")
	}
}

func TestCodeDigestByManyAtOnce(t *testing.T) {
	box := newTestBox(t, 1)
	want := box.CodeDigest("code")
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for range 200 {
				box.CodeDigest("another code of another length")
				if got := box.CodeDigest("code"); got != want {
					t.Errorf("digest %x, want %x", got, want)
					return
				}
			}
		})
	}
	work.Wait()
}

func TestCheckValueRecognisesItsKeyFileAlone(t *testing.T) {
	box, same, other := newTestBox(t, 1), newTestBox(t, 1), newTestBox(t, 2)
	if !box.Matches(same.Check()) {
		t.Error("a key file does not match its own check value")
	}
	for _, check := range []string{other.Check(), "", box.Check()[:8]} {
		if box.Matches(check) {
			t.Errorf("the check value %q matches", check)
		}
	}
	if KeyName(box.Check()) == KeyName(other.Check()) || len(KeyName(box.Check())) != 8 || KeyName("ab") != "ab" {
		t.Errorf("names %q and %q", KeyName(box.Check()), KeyName(other.Check()))
	}
}

// A database keeps these for years: a change of the derivation would lose every
// sealed value and every purchase. The values were computed by another program
// (openssl kdf and openssl mac, over a key of 32 bytes of 01).
func TestDerivationsStayWhatTheyAre(t *testing.T) {
	box := newTestBox(t, 1)
	if got, want := box.Check(), "dcf41a90fe5940144e808009774969154530289f40410e65d87840ea1fd5cd0d"; got != want {
		t.Errorf("check value %s, want %s", got, want)
	}
	if got, want := box.CodeName("abc"), "14f4984cacac233721a287a7bc6ebb36"; got != want {
		t.Errorf("name %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%x", box.MAC("p", []byte("abc"))), "1023c92ae16bff7804917615e49888cd99b2030cfd37938d1cf56ebbef850404"; got != want {
		t.Errorf("MAC %s, want %s", got, want)
	}
	// The first 63 bits of 14f4984cacac2337 21a287a7bc6ebb36.
	if got, want := box.CodeDigest("abc"), int64(0x14f4984cacac2337>>1); got != want {
		t.Errorf("digest %x, want %x", got, want)
	}
}
