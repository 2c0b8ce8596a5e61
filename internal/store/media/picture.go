package media

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	_ "golang.org/x/image/webp" // for image.Decode

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

// Limits of pictures, which bound the memory that one needs: a small file may declare any size.
const (
	maxSide   = 10_000     // pixels
	maxPixels = 16_000_000 // of all frames of an animation together
	maxFrames = 1000
)

// jpegQuality is that of pictures that are written again.
const jpegQuality = 88

// picture is a picture that was written again.
type picture struct {
	format
	width, height int
}

var errDamaged = fault.Invalid("media_damaged", "The picture is damaged or not complete. Export it again and upload that file")

func damaged(cause error) error { return fault.WithCause(errDamaged, cause) }

var errFrames = fault.Invalid("media_pixels", fmt.Sprintf("The animation is too long: its frames may have %d million pixels together, and be %d at most. Make it smaller or shorter", maxPixels/1_000_000, maxFrames))

func tooManyPixels(width, height int) error {
	return fault.Invalid("media_pixels", fmt.Sprintf("The picture has %d × %d pixels. At most %d million pixels are allowed, and %d on a side: make it smaller", width, height, maxPixels/1_000_000, maxSide))
}

var errScans = fault.Invalid("media_pixels", fmt.Sprintf("The JPEG has more scans than pictures have: at most %d are allowed, and fewer in a large one. Export it again and upload that file", maxScans))

var errMemory = fault.Invalid("media_pixels", "The picture needs too much memory. Make it smaller, or export it as a JPEG that is not progressive, or with 8 bits for each color")

// source is a picture that was not decoded yet.
type source struct {
	format
	content []byte
	config  image.Config
	turn    turned
	memory  int // that decoding takes, in bytes
}

// inspect reads what the headers of a picture say, and nothing that takes long. The errors are of kind Invalid
// (media_type, media_pixels, media_damaged).
func inspect(content []byte) (s source, err error) {
	s = source{content: content, turn: upright}
	if s.format, err = recognize(PreviewImage.Kind(), content[:min(len(content), headLength)]); err != nil {
		return source{}, err
	}
	if s.config, _, err = image.DecodeConfig(bytes.NewReader(content)); err != nil {
		return source{}, damaged(err)
	}
	if err := checkConfig(s.config); err != nil {
		return source{}, err
	}
	pixels := s.config.Width * s.config.Height
	switch s.end {
	case ".gif":
		err, s.memory = checkFrames(content), 2*maxPixels
	case ".jpg":
		shape := shapeOf(content)
		s.turn = orientation(content)
		err, s.memory = shape.check(s.config), shape.memory(pixels, s.turn)
	case ".webp":
		s.memory = webpMemory(content, s.config)
	default:
		s.memory = pixels * pixelBytes(s.config.ColorModel)
	}
	if err == nil && s.memory > maxMemory {
		err = errMemory
	}
	return s, err
}

// write decodes a picture and writes it again, so that nothing but its pixels is left: no metadata, and nothing before or
// behind it. The errors are of kind Invalid (media_damaged), that of the context, and those of writing.
func (s source) write(ctx context.Context, to io.Writer) (p picture, err error) {
	from := pieceReader{group.Reader(ctx, bytes.NewReader(s.content))}
	out := bufio.NewWriter(group.Writer(ctx, to)) // reports its first error at the end
	if s.end == ".gif" {
		p, err = writeGIF(s, from, out)
	} else {
		p, err = s.writeStill(from, out)
	}
	if ctx.Err() != nil {
		return picture{}, context.Cause(ctx)
	}
	if err != nil {
		return picture{}, damaged(err)
	}
	return p, out.Flush()
}

// checkConfig is an error about a picture that is too large, or empty.
func checkConfig(c image.Config) error {
	if c.Width <= 0 || c.Height <= 0 {
		return errDamaged
	}
	if c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels {
		return tooManyPixels(c.Width, c.Height)
	}
	return nil
}

// writeStill writes a picture of one frame. A lossy one is written as JPEG, the others as PNG.
func (s source) writeStill(from io.Reader, to io.Writer) (picture, error) {
	decoded, _, err := image.Decode(from)
	if err != nil {
		return picture{}, err
	}
	lossy := s.end == ".jpg" || isPhoto(decoded)
	decoded = s.turn.apply(decoded)
	p := picture{format{"image/png", ".png"}, decoded.Bounds().Dx(), decoded.Bounds().Dy()}
	if lossy {
		p.format = format{"image/jpeg", ".jpg"}
		return p, jpeg.Encode(to, decoded, &jpeg.Options{Quality: jpegQuality})
	}
	return p, png.Encode(to, decoded)
}

// isPhoto reports whether a picture was compressed as a photo is. One with transparency has another type.
func isPhoto(i image.Image) bool {
	_, is := i.(*image.YCbCr)
	return is
}

// writeGIF writes a picture that may be animated.
func writeGIF(s source, from io.Reader, to io.Writer) (picture, error) {
	decoded, err := gif.DecodeAll(from)
	if err != nil {
		return picture{}, err
	}
	return picture{format{"image/gif", ".gif"}, s.config.Width, s.config.Height}, gif.EncodeAll(to, decoded)
}
