package media

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/countersign/countersign/internal/fault"
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
	content       []byte
	width, height int
}

var errDamaged = fault.Invalid("media_damaged", "The picture is damaged or not complete. Export it again and upload that file")

func damaged(cause error) error { return fault.WithCause(errDamaged, cause) }

var errFrames = fault.Invalid("media_pixels", fmt.Sprintf("The animation is too long: its frames may have %d million pixels together, and be %d at most. Make it smaller or shorter", maxPixels/1_000_000, maxFrames))

func tooManyPixels(width, height int) error {
	return fault.Invalid("media_pixels", fmt.Sprintf("The picture has %d × %d pixels. At most %d million pixels are allowed, and %d on a side: make it smaller", width, height, maxPixels/1_000_000, maxSide))
}

// readPicture reads a picture and writes it again, so that nothing but its pixels is left:
// no metadata, and nothing before or behind it. The errors are of kind Invalid (media_type,
// media_pixels, media_damaged). Its size is checked before it is decoded.
func readPicture(content []byte) (picture, error) {
	f, err := recognize(PreviewImage.Kind(), content[:min(len(content), headLength)])
	if err != nil {
		return picture{}, err
	}
	var p picture
	switch f.end {
	case ".gif":
		p, err = readGIF(content)
	case ".jpg":
		p, err = readStill(content, jpeg.DecodeConfig, jpeg.Decode, orientation(content), true)
	case ".webp":
		p, err = readStill(content, webp.DecodeConfig, webp.Decode, upright, false)
	default:
		p, err = readStill(content, png.DecodeConfig, png.Decode, upright, false)
	}
	return p, err
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

// readStill reads a picture of one frame. A lossy one is written as JPEG, the others as PNG.
func readStill(content []byte, config func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error), turn turned, lossy bool) (picture, error) {
	c, err := config(bytes.NewReader(content))
	if err != nil {
		return picture{}, damaged(err)
	}
	if err := checkConfig(c); err != nil {
		return picture{}, err
	}
	decoded, err := decode(bytes.NewReader(content))
	if err != nil {
		return picture{}, damaged(err)
	}
	lossy = lossy || isPhoto(decoded)
	decoded = turn.apply(decoded)
	p := picture{format: format{"image/png", ".png"}, width: decoded.Bounds().Dx(), height: decoded.Bounds().Dy()}
	var b bytes.Buffer
	if lossy {
		p.format = format{"image/jpeg", ".jpg"}
		err = jpeg.Encode(&b, decoded, &jpeg.Options{Quality: jpegQuality})
	} else {
		err = png.Encode(&b, decoded)
	}
	if err != nil {
		return picture{}, damaged(err)
	}
	p.content = b.Bytes()
	return p, nil
}

// isPhoto reports whether a picture was compressed as a photo is. One with transparency has another type.
func isPhoto(i image.Image) bool {
	_, is := i.(*image.YCbCr)
	return is
}

// readGIF reads a picture that may be animated.
func readGIF(content []byte) (picture, error) {
	c, err := gif.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return picture{}, damaged(err)
	}
	if err := checkConfig(c); err != nil {
		return picture{}, err
	}
	if err := checkFrames(content); err != nil {
		return picture{}, err
	}
	decoded, err := gif.DecodeAll(bytes.NewReader(content))
	if err != nil {
		return picture{}, damaged(err)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, decoded); err != nil {
		return picture{}, damaged(err)
	}
	return picture{format{"image/gif", ".gif"}, b.Bytes(), c.Width, c.Height}, nil
}
