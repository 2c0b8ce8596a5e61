package media

import (
	"encoding/binary"
	"image"
	"strings"
	"testing"
)

func TestCodesOfALosslessWebPCountAsItsMemory(t *testing.T) {
	part := func(name string, size int) string {
		return name + string(binary.LittleEndian.AppendUint32(nil, uint32(size))) + strings.Repeat("\x00", size+size%2)
	}
	const mb = 1 << 20
	for _, tt := range []struct {
		name, parts string
		side        int
		from, to    int // bytes
	}{
		{"a small picture that describes as many codes as there may be", part("VP8L", 400_000), 204, 100 * mb, maxMemory},
		{"a small file", part("VP8L", 100), 204, 0, 8 * mb},
		{"few parts, so few codes", part("VP8L", 400_000), 16, 0, 2 * mb},
		{"a large picture can still be decoded", part("VP8L", 5*mb), 3000, maxMemory, maxMemory},
		{"codes do not count for one with loss", part("VP8X", 11) + part("EXIF", 7) + part("VP8 ", 5*mb), 4000, 32_000_000, 32_000_000},
		{"its transparency has codes", part("VP8X", 10) + part("ALPH", 400_000) + part("VP8 ", 100), 204, 100 * mb, maxMemory},
		{"the header does not decide what it is", part("VP8X", 10) + part("VP8L", 100), 4000, 192_000_000, 192_000_000},
		{"nor does a part that is not to end", "VP8X\xff\xff\xff\xff", 4000, 192_000_000, 192_000_000},
	} {
		got := webpMemory([]byte("RIFF\x00\x00\x00\x00WEBP"+tt.parts), image.Config{Width: tt.side, Height: tt.side})
		if got < tt.from || got > tt.to {
			t.Errorf("%s: %d bytes, want %d to %d", tt.name, got, tt.from, tt.to)
		}
	}
}
