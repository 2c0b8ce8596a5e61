package sample

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

// The wanted keys were computed by another program from the words of the design:
// SHA-256 of class and label, 43 digits; CRC-32 of what stands before, 6 digits.
func TestKeysHaveTheFormOfRealOnes(t *testing.T) {
	for rule, c := range map[string]struct{ got, want string }{
		"secret":                  {SecretKey("lumenfold"), "csk_0glVwKr2C5DIfqyM1jAEqXEhtlZ8jAmIcMLjOGqXoWr2KtOwP"},
		"secret, another label":   {SecretKey("newleaf"), "csk_P6ddaVCBGqAkgK7Wh3NNwLIIPZANNWnOUTYVvRv4cR83JyeDE"},
		"publishable":             {PublishableKey("lumenfold"), "csp_GjCvpulgOuqPmI7XqqDcsFSJvebDm8bnG20flhVrOj647nRF5"},
		"both numbers are padded": {SecretKey("pad 144"), "csk_0szSi89iKPPYbAVGUXIM32zgLT8wa7OMaYOaipx1kVG0WlFV4"},
	} {
		expect.Equalf(t, c.got, c.want, "%s", rule)
	}
}
