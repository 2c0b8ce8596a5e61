package media

import "errors"

var errGIF = errors.New("media: the blocks of a GIF end early")

// checkFrames is an error about a GIF whose frames have too many pixels together, or which has
// too many frames. It reads how large they are, and decodes none: a few bytes may hold a frame
// of any size.
func checkFrames(content []byte) error {
	b := blocks{rest: content}
	header := b.take(13)
	if b.short {
		return damaged(errGIF)
	}
	b.takeColours(header[10])
	frames, pixels := 0, 0
	for !b.short {
		switch b.byte() {
		case 0x21: // an extension
			b.take(1)
			b.skipData()
		case 0x2c: // a frame
			d := b.take(9)
			if b.short {
				return damaged(errGIF)
			}
			width, height := int(d[4])|int(d[5])<<8, int(d[6])|int(d[7])<<8
			frames, pixels = frames+1, pixels+width*height
			if frames > maxFrames || pixels > maxPixels {
				return errFrames
			}
			b.takeColours(d[8])
			b.take(1)
			b.skipData()
		case 0x3b: // the end
			return nil
		default:
			return damaged(errGIF)
		}
	}
	return damaged(errGIF)
}

// blocks reads the blocks of a GIF.
type blocks struct {
	rest  []byte
	short bool // the file has ended
}

// take returns the next bytes.
func (b *blocks) take(n int) []byte {
	if n > len(b.rest) {
		b.short, n = true, len(b.rest)
	}
	taken := b.rest[:n]
	b.rest = b.rest[n:]
	return taken
}

func (b *blocks) byte() byte {
	if one := b.take(1); !b.short {
		return one[0]
	}
	return 0
}

// takeColours skips the table of colours that flags announce.
func (b *blocks) takeColours(flags byte) {
	if flags&0x80 != 0 {
		b.take(3 << (flags&7 + 1))
	}
}

// skipData skips blocks of data up to the empty one.
func (b *blocks) skipData() {
	for !b.short {
		n := b.byte()
		if n == 0 {
			return
		}
		b.take(int(n))
	}
}
