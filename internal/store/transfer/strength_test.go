package transfer

import (
	"math"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestBitsByShape(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		code, key  int // bits, rounded
	}{
		{"six digits", "493021", 20, 20},
		{"signs that part a text do not count", "4930-21", 20, 20},
		{"a UUID is 32 hexadecimal digits", "14ba71e7-b9d4-47b1-933b-ae2f77bb5115", 128, 128},
		{"the case of a code's letters does not count", "14BA71E7-b9d4-47b1-933b-ae2f77bb5115", 128, 143},
		{"twenty hexadecimal digits are just enough for a code", "0123456789abcdef0123", 80, 80},
		{"a letter beyond f makes letters of all", "qk5m2x8v1c7b3n9s", 83, 83},
		{"letters of both cases", "abcXYZ", 28, 30},
		{"other signs", "R&D", 17, 17},
		{"nothing but signs that part", "-- --", 0, 0},
		{"nothing", "", 0, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			expect.Equalf(t, int(math.Round(CodeBits(c.text))), c.code, "as a code: bits")
			expect.Equalf(t, int(math.Round(ShapeBits(c.text))), c.key, "as a key: bits")
		})
	}
	if ShapeBits("0123456789abcdef0123456789abcdef") < SafeKeyBits {
		t.Error("32 hexadecimal digits are a safe key")
	}
}

func FuzzShapeBits(f *testing.F) {
	f.Add("abc-123")
	f.Fuzz(func(t *testing.T, text string) {
		bits := ShapeBits(text)
		if math.IsNaN(bits) || bits < 0 || bits > 8*float64(len(text)) {
			t.Errorf("%q has %f bits", text, bits)
		}
		if longer := ShapeBits(text + text); longer < bits {
			t.Errorf("twice %q has %f bits, once %f", text, longer, bits)
		}
	})
}
