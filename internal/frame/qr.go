package frame

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
)

// qrSize is the least width of a QR code's picture, in pixels.
const qrSize = 400

// QRCode draws a text for the camera of a phone, as the source of an image: a PNG
// without a margin.
func QRCode(text string) (src string, err error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("drawing the QR code: %w", err)
	}
	modules := code.Bounds().Dx()
	size := (qrSize + modules - 1) / modules * modules // each module is as wide as the others
	if code, err = barcode.Scale(code, size, size); err != nil {
		return "", fmt.Errorf("drawing the QR code: %w", err)
	}
	var image bytes.Buffer
	if err := png.Encode(&image, code); err != nil {
		return "", fmt.Errorf("drawing the QR code: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(image.Bytes()), nil
}
