package media

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"image"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// emptyScans is a JPEG with so many more scans than one, which have no data.
func emptyScans(t *testing.T, n int) []byte {
	whole := jpegOf(t, painted(40, 20))
	scans := strings.Repeat("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00", n)
	return append(append(whole[:len(whole)-2:len(whole)-2], scans...), 0xff, 0xd9)
}

func TestThePartsOfAPictureAreCountedBeforeItIsDecoded(t *testing.T) {
	note := "Exif\x00\x00" + strings.Repeat(string(scanMark), 2*maxScans)
	for name, c := range map[string]struct {
		content []byte
		code    string
	}{
		"as many scans as there may be": {emptyScans(t, maxScans-1), ""},
		"one more":                      {emptyScans(t, maxScans), "media_pixels"},
		"270,000 empty ones":            {emptyScans(t, 270_000), "media_pixels"},
		"marks of scans in metadata":    {with(jpegOf(t, painted(40, 20)), 0xe1, note), ""},
		"a large PNG of 16 bits":        {bombPNG(4000, 4000, 16), "media_pixels"},
		"a large PNG of 8 bits":         {bombPNG(4000, 4000, 8), ""},
	} {
		if _, err := inspect(c.content); (err == nil) != (c.code == "") || c.code != "" && !fault.HasCode(err, c.code) {
			t.Errorf("%s: %v, want the code %q", name, err, c.code)
		}
	}
	scans := jpegShape{scans: 21}
	large, _ := inspect(bombPNG(4000, 4000, 8))
	if err := scans.check(large.config); !errors.Is(err, errScans) {
		t.Errorf("21 scans of 16 million pixels: %v", err)
	}
}

func TestTheMemoryOfAPictureIsKnownBeforeItIsDecoded(t *testing.T) {
	const pixels = 1 << 20
	frame := func(kind byte, factors ...byte) []byte {
		b := []byte{8, 4, 0, 4, 0, byte(len(factors))}
		for i, f := range factors {
			b = append(b, byte(i+1), f, 0)
		}
		return append([]byte{0xff, 0xd8, 0xff, kind, 0, byte(2 + len(b))}, b...)
	}
	for name, c := range map[string]struct {
		content []byte
		turn    turned
		want    int
	}{
		"one color":                   {frame(0xc0, 0x11), upright, pixels},
		"three, two of them smaller":  {frame(0xc0, 0x22, 0x11, 0x11), upright, pixels * 3 / 2},
		"that are turned":             {frame(0xc0, 0x22, 0x11, 0x11), 6, pixels*3/2 + 4*pixels},
		"progressive":                 {frame(0xc2, 0x22, 0x11, 0x11), upright, pixels * 15 / 2},
		"progressive, all of a size":  {frame(0xc2, 0x11, 0x11, 0x11), upright, 15 * pixels},
		"four":                        {frame(0xc0, 0x11, 0x11, 0x11, 0x11), upright, 8 * pixels},
		"behind a byte that fills":    {slices.Concat([]byte("\xff\xd8\xff"), frame(0xc2, 0x11, 0x11, 0x11, 0x11)[2:], make([]byte, 0xc204-25), frame(0xc0, 0x11)[2:]), upright, 20 * pixels},
		"headers that are not to end": {[]byte("\xff\xd8\xff\xc0\xff\xff"), upright, 20 * pixels},
	} {
		expect.Equalf(t, shapeOf(c.content).memory(pixels, c.turn), c.want, "%s: bytes", name)
	}
}

// endingContext ends after it was asked a few times.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestDecodingEndsWithItsRequest(t *testing.T) {
	for name, content := range map[string][]byte{"JPEG": jpegOf(t, painted(400, 400)), "PNG": pngOf(t, painted(400, 400)), "GIF": gifOf(t, 50, 100, 100), "WebP": webpOf(t)} {
		s := must.Get(inspect(content))(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errSlow)
		for asked := range 2 {
			var b bytes.Buffer
			if _, err := s.write(&endingContext{ctx, asked}, &b); !errors.Is(err, errSlow) || b.Len() > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A picture is often read faster than it is compressed again.
func TestWritingEndsWithItsRequest(t *testing.T) {
	for name, content := range map[string][]byte{"JPEG": jpegOf(t, speckled(t)), "PNG": pngOf(t, speckled(t))} {
		s := must.Get(inspect(content))(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		b := cancelWriter{cancel: func() { cancel(errSlow) }}
		if _, err := s.write(ctx, &b); !errors.Is(err, errSlow) || b.writes != 1 {
			t.Errorf("%s: %v, %d writes", name, err, b.writes)
		}
	}
}

// speckled is a picture that can't be compressed well.
func speckled(t *testing.T) image.Image {
	i := image.NewRGBA(image.Rect(0, 0, 200, 200))
	must.Get(rand.Read(i.Pix))(t)
	return i
}

// cancelWriter ends a context in its first write.
type cancelWriter struct {
	cancel func()
	writes int
}

func (w *cancelWriter) Write(p []byte) (int, error) {
	w.cancel()
	w.writes++
	return len(p), nil
}

func TestPicturesShareTheirMemoryBetweenWorkspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDecodings()
		ctx, cancel := context.WithCancelCause(t.Context())
		var order []int64
		ends := map[int64]chan struct{}{1: make(chan struct{}), 2: make(chan struct{}), 3: make(chan struct{})}
		var failed atomic.Int32
		upload := func(workspace int64, memory int) {
			go func() {
				done, err := d.enter(ctx, workspace, memory)
				if err != nil {
					failed.Add(1)
					return
				}
				order = append(order, workspace)
				<-ends[workspace]
				done()
			}()
			synctest.Wait()
		}
		for range 60 {
			upload(1, maxMemory)
		}
		upload(2, maxMemory)
		upload(3, allMemory-maxMemory)
		check := func(when string, want ...int64) {
			t.Helper()
			synctest.Wait()
			for i, workspace := range want {
				if len(order) != len(want) || order[i] != workspace {
					t.Fatalf("%s: the order is %v, want %v", when, order, want)
				}
			}
			if d.free < 0 {
				t.Fatalf("%s: %d bytes too many", when, -d.free)
			}
		}
		check("a small one beside a large one", 1, 3)
		ends[1] <- struct{}{}
		check("another workspace is next", 1, 3, 2)
		ends[2] <- struct{}{}
		check("then the first again", 1, 3, 2, 1)
		cancel(errSlow)
		synctest.Wait()
		close(ends[1])
		close(ends[3])
		synctest.Wait()
		if failed.Load() != 58 || d.free != allMemory || len(d.waiting) != 0 {
			t.Errorf("%d gave up, %d bytes are free, %d wait", failed.Load(), d.free, len(d.waiting))
		}
	})
}
