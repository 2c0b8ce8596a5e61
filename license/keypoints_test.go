package license_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"filippo.io/edwards25519"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

// badPoints are public keys that no store can have.
var badPoints = []struct {
	what, hex string
	small     bool // of small order: 1, 2, 4 or 8
}{
	{"order 1", "0100000000000000000000000000000000000000000000000000000000000000", true},
	{"order 2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", true},
	{"order 4", "0000000000000000000000000000000000000000000000000000000000000000", true},
	{"order 4, negative", "0000000000000000000000000000000000000000000000000000000000000080", true},
	{"order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", true},
	{"order 8, negative", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", true},
	{"the other order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", true},
	{"the other order 8, negative", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", true},
	{"order 1 with a sign", "0100000000000000000000000000000000000000000000000000000000000080", true},
	{"order 2 with a sign", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", true},
	{"order 4, y = p", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", true},
	{"order 4, negative, y = p", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", true},
	{"order 1, y = p + 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", true},
	{"order 1 with a sign, y = p + 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", true},
	{"not canonical, y = p + 3", "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", false},
	{"not canonical, y = p + 18", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", false},
	{"not on the curve, y = 2", "0200000000000000000000000000000000000000000000000000000000000000", false},
	{"not on the curve, y = 7", "0700000000000000000000000000000000000000000000000000000000000000", false},
	{"not on the curve, y = p + 2", "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", false},
}

func TestAKeySetRefusesKeysThatNoStoreCanHave(t *testing.T) {
	orders := map[string]bool{}
	for _, c := range badPoints {
		t.Run(c.what, func(t *testing.T) {
			public, err := hex.DecodeString(c.hex)
			if err != nil || len(public) != ed25519.PublicKeySize {
				t.Fatalf("%d bytes, %v", len(public), err)
			}
			point, err := new(edwards25519.Point).SetBytes(public)
			if small := err == nil && new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1; small != c.small {
				t.Fatalf("small order: %t, %v", small, err)
			}
			if c.small {
				orders[string(point.Bytes())] = true
			}
			_, made := license.NewKeySet(license.Key{ID: "a", Public: public})
			_, read := license.ReadKeySet(fmt.Appendf(nil, `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":%q}]}`, b64(public)))
			for _, err := range []error{made, read} {
				if apiErr, ok := errors.AsType[*countersign.Error](err); !ok || apiErr.Code != "key_set_invalid" {
					t.Errorf("%v", err)
				}
			}
		})
	}
	expect.Equalf(t, len(orders), 8, "of the 8 points of small order are in the table")
}

// What a key of small order is dangerous for: here is a signature of a license that
// nobody has made.
func TestAKeyOfOrderOneVerifiesAForgery(t *testing.T) {
	one := must.Get(hex.DecodeString(badPoints[0].hex))(t)
	forged := append(one, make([]byte, 32)...)
	if !ed25519.Verify(one, []byte("a license for every domain"), forged) {
		t.Error("the standard library refuses it by itself now")
	}
}
