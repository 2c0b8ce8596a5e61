package token

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestTokens(t *testing.T) {
	key := New("cak_")
	if len(key) != 53 || !strings.HasPrefix(key, "cak_") || !Valid("cak_", key) || New("cak_") == key {
		t.Errorf("token %q", key)
	}
	typo := []byte(key)
	typo[10] ^= 1
	for _, bad := range []string{"", "cak_", key[1:], key[:10] + key[11:], key + "x", string(typo), "cas_" + key[4:], strings.ToUpper(key)} {
		if Valid("cak_", bad) {
			t.Errorf("%q is taken for a key", bad)
		}
	}
	expect.Equalf(t, Hint(key), "cak_…"+key[49:], "hint")
}

func TestEncode62(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	cases := []struct {
		name  string
		n     *big.Int
		width int
		want  string
	}{
		{"zero is padded", big.NewInt(0), 4, "0000"},
		{"the last digit is z", big.NewInt(61), 1, "z"},
		{"the digits are 0-9 A-Z a-z", big.NewInt(10*62*62 + 36*62 + 9), 3, "Aa9"},
		{"256 bits fit into 43 digits", most, 43, upperFirst(most.Text(62), 43)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := new(big.Int).Set(c.n)
			expect.Equal(t, encode62(c.n, c.width), c.want)
			expect.Equalf(t, c.n.Cmp(before), 0, "the number was changed")
		})
	}
}

// upperFirst turns the digits of math/big, 0-9 a-z A-Z, into ours.
func upperFirst(digits string, width int) string {
	swap := func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}
	return strings.Repeat("0", width-len(digits)) + strings.Map(swap, digits)
}

func TestDigestIsSHA256(t *testing.T) {
	// The first answer of FIPS 180-2, appendix B.
	want := []byte("\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad")
	if got := Digest("abc"); !bytes.Equal(got[:], want) {
		t.Errorf("digest %x, want %x", got, want)
	}
}
