package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// turned says how a camera held a picture: the value of Exif's tag Orientation, 1 to 8.
type turned uint16

const upright turned = 1

// orientation reads how a JPEG is turned. The picture is written without this note, so it has
// to be turned before.
func orientation(content []byte) turned {
	for rest := content[min(2, len(content)):]; len(rest) >= 4 && rest[0] == 0xff; {
		length := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		if length < 4 || length > len(rest) || rest[1] == 0xda { // broken, or the picture itself
			return upright
		}
		if tags, is := bytes.CutPrefix(rest[4:length], []byte("Exif\x00\x00")); is && rest[1] == 0xe1 {
			return orientationOf(tags)
		}
		rest = rest[length:]
	}
	return upright
}

// orientationOf finds the tag in the first folder of a TIFF.
func orientationOf(tiff []byte) turned {
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return upright
	}
	const entry, tag = 12, 0x0112
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			break
		}
		if order.Uint16(entries) == tag {
			if t := turned(order.Uint16(entries[8:])); t >= upright && t <= 8 {
				return t
			}
			break
		}
		entries = entries[entry:]
	}
	return upright
}

// apply returns the picture turned upright.
func (t turned) apply(i image.Image) image.Image {
	if t == upright {
		return i
	}
	from := i.Bounds()
	w, h := from.Dx(), from.Dy()
	if t >= 5 { // width and height change places
		w, h = h, w
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sx, sy := t.source(x, y, w, h)
			to.Set(x, y, i.At(from.Min.X+sx, from.Min.Y+sy))
		}
	}
	return to
}

// source returns where the pixel at a place of a picture of w × h pixels comes from.
func (t turned) source(x, y, w, h int) (int, int) {
	switch t {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, w - 1 - x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return h - 1 - y, x
	}
	return x, y
}
