package media

import (
	"bytes"
	"image"
	"image/color"
	"io"
)

// maxScans is how many scans a JPEG may have, and maxScanned how many pixels all of them together: a scan of a few bytes
// takes as long to decode as one of megabytes. Programs write ten, of pictures that load step by step.
const (
	maxScans   = 100
	maxScanned = 20 * maxPixels
)

var scanMark = []byte{0xff, 0xda}

// jpegShape is what the headers of a JPEG say about the memory and the time that it takes to decode.
type jpegShape struct {
	scans int // at most
	// samples is how many values it has for each four pixels, in all components.
	samples     int
	components  int
	progressive bool
}

// shapeOf reads the shape of a JPEG. One whose headers it can't follow is taken for the largest.
func shapeOf(content []byte) jpegShape {
	s := jpegShape{samples: 16, components: 4, progressive: true}
	rest := content[min(2, len(content)):]
	for len(rest) >= 4 && rest[0] == 0xff {
		end := 2 + int(rest[2])<<8 + int(rest[3])
		if end < 4 || end > len(rest) {
			break
		}
		if kind := rest[1]; kind >= 0xc0 && kind <= 0xc2 {
			s.readFrame(rest[4:end], kind == 0xc2)
			break
		} else if kind != 0xc4 && kind < 0xdb || kind == 0xff { // a byte that fills, and no segment
			break
		}
		rest = rest[end:]
	}
	s.scans = bytes.Count(rest, scanMark) // what stands before the frame is metadata
	return s
}

// readFrame reads the header of a frame.
func (s *jpegShape) readFrame(b []byte, progressive bool) {
	if len(b) < 6 || len(b) < 6+3*int(b[5]) || b[5] == 0 || b[5] > 4 {
		return
	}
	most, sum := 1, 0
	for i := range int(b[5]) {
		factor := int(b[7+3*i]>>4) * int(b[7+3*i]&15)
		most, sum = max(most, factor), sum+factor
	}
	s.samples, s.components, s.progressive = max(4, min(16, (4*sum+most-1)/most)), int(b[5]), progressive
}

// memory is how much it takes to decode a JPEG of so many pixels and to turn it upright, in bytes.
func (s jpegShape) memory(pixels int, turn turned) int {
	decoded := pixels * s.samples / 4
	most := decoded
	if s.progressive {
		most += decoded * 4
	}
	if s.components == 4 || turn != upright {
		most = max(most, decoded+4*pixels)
	}
	return most
}

// check is an error about a JPEG that would take too long.
func (s jpegShape) check(c image.Config) error {
	if s.scans > maxScans || s.scans*c.Width*c.Height > maxScanned {
		return errScans
	}
	return nil
}

// pixelBytes is how many bytes a pixel of a PNG takes while it is decoded.
func pixelBytes(m color.Model) int {
	if m == color.NRGBA64Model || m == color.RGBA64Model {
		return 12 // half as much again for one that is interlaced
	}
	return 6
}

// piece is how many bytes a decoder gets at once: it ends with its context at the next one.
const piece = 512

// pieceReader reads content in pieces.
type pieceReader struct{ io.Reader }

// Read implements [io.Reader].
func (r pieceReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), piece)]) }
