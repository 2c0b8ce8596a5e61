package media

import (
	"encoding/binary"
	"image"
)

// A lossless WebP has groups of codes, each for a part of the picture: a file of 400 KB may describe 100 MB of them.
const (
	maxGroups    = 2600 // the decoder refuses more
	groupBytes   = 2700 // of a group without symbols
	groupSymbols = 3136 // of a group at most
	symbolBytes  = 16
	byteSymbols  = 16 // how many symbols a byte of the file describes at most
)

// webpMemory is how much it takes to decode a WebP, in bytes. How many codes a lossless one has is only known when they are
// decoded. So as many count as it may have, up to what one picture may need.
func webpMemory(content []byte, c image.Config) int {
	pixels := c.Width * c.Height
	if !isLossless(content) {
		return 2 * pixels
	}
	groups := min(maxGroups, (c.Width/4+1)*(c.Height/4+1))
	codes := groups*groupBytes + min(groups*groupSymbols, len(content)*byteSymbols)*symbolBytes
	return max(12*pixels, min(maxMemory, 4*pixels+codes)) // the codes are gone when the pixels are transformed
}

// isLossless reports whether a WebP, or its transparency, is compressed without loss. One whose parts it can't follow is
// taken for one.
func isLossless(content []byte) bool {
	for rest := content[12:]; len(rest) >= 8; {
		if string(rest[:4]) == "VP8 " {
			return false
		}
		if name := string(rest[:4]); name == "VP8L" || name == "ALPH" {
			return true
		}
		size := int(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[min(len(rest), 8+size+size%2):]
	}
	return true
}
