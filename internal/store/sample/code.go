package sample

import (
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
)

// uuidOf writes 16 bytes as a lower-case UUID of version 4: six of their bits are fixed.
func uuidOf(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return uuid.UUID(b).String()
}

// drawCode returns a purchase code as the workspace handed them out at that time.
// Two of them moved here from elsewhere and kept the codes of their older sales:
// one sold under upper-case UUIDs, one under 35 lower-case letters and digits.
func drawCode(rng *rand.Rand, workspace string, movedYet bool) string {
	code := uuidOf(random16(rng))
	switch {
	case workspace == "pixelgrove" && !movedYet:
		return strings.ToUpper(code)
	case workspace == "quietharbor" && !movedYet:
		return lowerString(rng, 35)
	}
	return code
}

func random16(rng *rand.Rand) [16]byte {
	var b [16]byte
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func lowerString(rng *rand.Rand, length int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, length)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(b)
}
