package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// painted is a picture whose left half is red and whose right half is blue; its first row is white.
func painted(width, height int) *image.RGBA {
	i := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{255, 0, 0, 255}
			if x >= width/2 {
				c = color.RGBA{0, 0, 255, 255}
			}
			if y < height/4 {
				c = color.RGBA{255, 255, 255, 255}
			}
			i.Set(x, y, c)
		}
	}
	return i
}

func pngOf(t testing.TB, i image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, i))
	return b.Bytes()
}

func jpegOf(t testing.TB, i image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, jpeg.Encode(&b, i, nil))
	return b.Bytes()
}

// gifOf is an animation of so many frames.
func gifOf(t testing.TB, frames, width, height int) []byte {
	t.Helper()
	var g gif.GIF
	for n := range frames {
		one := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
		one.SetColorIndex(n%width, 0, 1)
		g.Image, g.Delay = append(g.Image, one), append(g.Delay, 10)
	}
	var b bytes.Buffer
	must.Do(t, gif.EncodeAll(&b, &g))
	return b.Bytes()
}

// webpOf is a lossless WebP of one pixel.
func webpOf(t testing.TB) []byte {
	t.Helper()
	return must.Get(hex.DecodeString("524946461a000000574542505650384c0d0000002f00000010071011118888fe0700"))(t)
}

// chunk is a part of a PNG.
func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// bombPNG is a small file that says it has so many pixels.
func bombPNG(width, height uint32, bits ...byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, append(append(bits, 8)[:1], 6, 0, 0, 0)...))...)
	return append(append(b, chunk("IDAT", nil)...), chunk("IEND", nil)...)
}

// with puts a segment behind the first marker of a JPEG.
func with(content []byte, marker byte, data string) []byte {
	segment := append([]byte{0xff, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(data)+2))...)
	return bytes.Join([][]byte{content[:2], segment, []byte(data), content[2:]}, nil)
}

const hidden = "<?php system($_GET['c']); ?><script>alert(1)</script>"

// reread reads a picture and returns what is written again.
func reread(content []byte) (picture, []byte, error) {
	s, err := inspect(content)
	if err != nil {
		return picture{}, nil, err
	}
	var b bytes.Buffer
	p, err := s.write(context.Background(), &b)
	return p, b.Bytes(), err
}

func TestAPictureIsNothingButItsPixels(t *testing.T) {
	still := painted(40, 20)
	cases := map[string]struct {
		content []byte
		end     string
	}{
		"a PNG":                        {pngOf(t, still), ".png"},
		"a PNG with a page behind it":  {append(pngOf(t, still), hidden...), ".png"},
		"a PNG with a text":            {append(pngOf(t, still)[:33:33], append(chunk("tEXt", []byte("Comment\x00"+hidden)), pngOf(t, still)[33:]...)...), ".png"},
		"a JPEG":                       {jpegOf(t, still), ".jpg"},
		"a JPEG with a comment":        {with(jpegOf(t, still), 0xfe, hidden), ".jpg"},
		"a JPEG with a page behind it": {append(jpegOf(t, still), hidden...), ".jpg"},
		"a GIF":                        {gifOf(t, 1, 40, 20), ".gif"},
		"an animation":                 {gifOf(t, 5, 40, 20), ".gif"},
		"a GIF that is also a program": {append(gifOf(t, 1, 40, 20), hidden...), ".gif"},
		"a GIF with a comment":         {bytes.Replace(gifOf(t, 1, 40, 20), []byte{0x2c, 0, 0}, append(append([]byte{0x21, 0xfe, byte(len(hidden))}, hidden...), 0, 0x2c, 0, 0), 1), ".gif"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, written, err := reread(c.content)
			must.Do(t, err)
			if bytes.Contains(written, []byte("script")) || bytes.Contains(written, []byte("php")) {
				t.Error("something else than pixels is left")
			}
			decoded, format, err := image.Decode(bytes.NewReader(written))
			if err != nil || p.width != 40 || p.height != 20 || decoded.Bounds().Dx() != 40 || decoded.Bounds().Dy() != 20 || p.end != c.end {
				t.Errorf("%s of %d × %d, %v", format, p.width, p.height, err)
			}
		})
	}
	if _, written, err := reread(gifOf(t, 5, 40, 20)); err != nil {
		t.Error(err)
	} else if g, err := gif.DecodeAll(bytes.NewReader(written)); err != nil || len(g.Image) != 5 {
		t.Errorf("the animation has %d frames, %v", len(g.Image), err)
	}
	if p, _, err := reread(webpOf(t)); err != nil || p.end != ".png" || p.width != 1 {
		t.Errorf("a WebP: %+v, %v", p.format, err)
	}
}

func TestAPictureStandsUpright(t *testing.T) {
	const tag6 = "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	const tag3 = "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x03\x00\x00\x00\x00\x00\x00"
	cases := map[string]struct {
		exif          string
		width, height int
		x, y          int // where the first, white row is
	}{
		"as it is":      {"", 40, 20, 20, 1},
		"to the right":  {tag6, 20, 40, 18, 20},
		"upside down":   {tag3, 40, 20, 20, 18},
		"a broken note": {tag6[:14], 40, 20, 20, 1},
		"a wild offset": {"Exif\x00\x00II*\x00\xff\xff\xff\xff", 40, 20, 20, 1},
	}
	for name, c := range cases {
		content := jpegOf(t, painted(40, 20))
		if c.exif != "" {
			content = with(content, 0xe1, c.exif)
		}
		p, written, err := reread(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i, err := jpeg.Decode(bytes.NewReader(written))
		if err != nil || p.width != c.width || p.height != c.height {
			t.Errorf("%s: %d × %d, %v", name, p.width, p.height, err)
			continue
		}
		if r, g, b, _ := i.At(c.x, c.y).RGBA(); r < 0xd000 || g < 0xd000 || b < 0xd000 {
			t.Errorf("%s: the white row is elsewhere", name)
		}
	}
}

// A turned picture is as in a table of the eight turns, whose letters are pixels.
func TestAllTurns(t *testing.T) {
	from := image.NewGray(image.Rect(5, 5, 8, 7)) // abc / def
	for n, c := range "abcdef" {
		from.SetGray(5+n%3, 5+n/3, color.Gray{uint8(c)})
	}
	for turn, want := range map[turned]string{1: "abc/def", 2: "cba/fed", 3: "fed/cba", 4: "def/abc", 5: "ad/be/cf", 6: "da/eb/fc", 7: "fc/eb/da", 8: "cf/be/ad"} {
		i := turn.apply(from)
		var rows []string
		for y := i.Bounds().Min.Y; y < i.Bounds().Max.Y; y++ {
			row := ""
			for x := i.Bounds().Min.X; x < i.Bounds().Max.X; x++ {
				row += string(rune(color.GrayModel.Convert(i.At(x, y)).(color.Gray).Y))
			}
			rows = append(rows, row)
		}
		expect.Equalf(t, strings.Join(rows, "/"), want, "%d", turn)
	}
}

func TestABadPictureIsRefused(t *testing.T) {
	whole := pngOf(t, painted(40, 20))
	wide := gifOf(t, 1, 40, 20)
	binary.LittleEndian.PutUint16(wide[6:], 60000)
	binary.LittleEndian.PutUint16(wide[8:], 60000)
	frame := gifOf(t, 1, 4000, 3000)
	second := append(bytes.TrimSuffix(frame, []byte{0x3b}), frame[bytes.IndexByte(frame[13:], 0x2c)+13:]...)
	cases := map[string]struct {
		content []byte
		code    string
	}{
		"a page":                          {[]byte("<!doctype html><script>alert(1)</script>"), "media_type"},
		"SVG":                             {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), "media_type"},
		"a program":                       {[]byte("\x7fELF\x02\x01\x01"), "media_type"},
		"nothing":                         {nil, "media_type"},
		"a bitmap":                        {[]byte("BM\x3a\x00\x00\x00\x00\x00\x00\x00"), "media_type"},
		"the beginning of a GIF":          {[]byte("GIF89a\x08\x00\x08\x00<?php system($_GET['c']); ?>"), "media_damaged"},
		"a PNG of 60000 × 60000":          {bombPNG(60000, 60000), "media_pixels"},
		"a PNG of 2^31 × 2^31":            {bombPNG(1<<31-1, 1<<31-1), "media_damaged"},
		"a PNG that is long and thin":     {bombPNG(20000, 1), "media_pixels"},
		"a PNG that ends early":           {whole[:len(whole)/2], "media_damaged"},
		"a JPEG that ends early":          {jpegOf(t, painted(40, 20))[:300], "media_damaged"},
		"a JPEG that only begins":         {[]byte("\xff\xd8\xff\xe0"), "media_damaged"},
		"a GIF of 60000 × 60000":          {wide, "media_pixels"},
		"a GIF that ends early":           {gifOf(t, 2, 40, 20)[:120], "media_damaged"},
		"an animation of large frames":    {second, "media_pixels"},
		"an animation of too many frames": {gifOf(t, maxFrames+1, 1, 1), "media_pixels"},
		"a JPEG with a part of no length": {[]byte("\xff\xd8\xff0\x00\x000"), "media_damaged"},
		"a WebP that ends early":          {webpOf(t)[:24], "media_damaged"},
	}
	for name, c := range cases {
		if _, written, err := reread(c.content); !fault.HasCode(err, c.code) || len(written) > 0 {
			t.Errorf("%s: %v, want the code %s", name, err, c.code)
		}
	}
}

func TestSoundsAndVideosAreKnownByTheirFirstBytes(t *testing.T) {
	pad := strings.Repeat("\x00", 64)
	page := "<script>alert(1)</script>" + pad
	cases := []struct {
		kind       Kind
		name, head string
		want       string
	}{
		{KindAudio, "MP3 with a tag", "ID3\x04\x00\x00\x00\x00\x02\x01" + pad, "audio/mpeg"},
		{KindAudio, "MP3", "\xff\xfb\x90\x64" + pad, "audio/mpeg"},
		{KindAudio, "Ogg", "OggS\x00\x02" + pad[:20] + "\x01\x1e\x01vorbis" + pad, "audio/ogg"},
		{KindAudio, "Opus", "OggS\x00\x02" + pad[:20] + "\x01\x13OpusHead" + pad, "audio/ogg"},
		{KindAudio, "WAV", "RIFF\x24\x00\x00\x00WAVEfmt " + pad, "audio/wav"},
		{KindAudio, "FLAC", "fLaC\x00\x00\x00\x22" + pad, "audio/flac"},
		{KindAudio, "M4A", "\x00\x00\x00\x20ftypM4A \x00\x00\x02\x00" + pad, "audio/mp4"},
		{KindVideo, "MP4", "\x00\x00\x00\x20ftypisom\x00\x00\x02\x00" + pad, "video/mp4"},
		{KindVideo, "WebM", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm" + pad, "video/webm"},
		{KindAudio, "a page", page, ""},
		{KindVideo, "a page", page, ""},
		{KindAudio, "a video", "\x00\x00\x00\x20ftypisom\x00\x00\x02\x00" + pad, ""},
		{KindVideo, "a sound", "\xff\xfb\x90\x64" + pad, ""},
		{KindVideo, "Matroska", "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska" + pad, ""},
		{KindAudio, "a video in Ogg", "OggS\x00\x02" + pad[:20] + "\x01\x2a\x80theora" + pad, ""},
		{KindAudio, "a JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF" + pad, ""},
		{KindAudio, "a picture in RIFF", "RIFF\x24\x00\x00\x00WEBPVP8 " + pad, ""},
		{KindAudio, "a tag that is a page", "ID3<script>alert(1)</script>" + pad, ""},
		{KindVideo, "a box that is a page", "<!--ftypisom--><script>" + pad, ""},
		{KindVideo, "too little", "\x00\x00", ""},
		{KindFile, "anything", page, "application/octet-stream"},
	}
	for _, c := range cases {
		f, err := recognize(c.kind, []byte(c.head))
		if f.mediaType != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s for %s: %q, %v, want %q", c.name, c.kind, f.mediaType, err, c.want)
		}
	}
}

func TestTheNameOfAFileIsNoPathAndNoHeader(t *testing.T) {
	for name, want := range map[string]string{
		"rain.zip": "rain.zip", "../../etc/passwd": "passwd", `C:\rain\thunder.zip`: "thunder.zip", "a\x00b\r\nSet-Cookie: x.zip": "abSet-Cookie x.zip",
		`"><b>.zip`: "b.zip", "": "download", "..": "download", "/": "download", "Регн ☔.zip": "Регн ☔.zip", "\xff\xfe.zip": "zip",
		strings.Repeat("é", 300) + ".zip": strings.Repeat("é", maxTitle-4) + ".zip", strings.Repeat("a", 200): strings.Repeat("a", maxTitle),
	} {
		expect.Equalf(t, title(name), want, "%q is called", name)
	}
}

func FuzzPicture(f *testing.F) {
	for _, seed := range [][]byte{
		pngOf(f, painted(8, 4)), with(jpegOf(f, painted(8, 4)), 0xe1, "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"),
		gifOf(f, 3, 8, 4), webpOf(f), bombPNG(60000, 60000), []byte("GIF89a"), nil,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		p, written, err := reread(content)
		if err != nil {
			if fault.Of(err) == nil {
				t.Fatalf("not an error for people: %v", err)
			}
			return
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(written))
		if err != nil || c.Width != p.width || c.Height != p.height || c.Width*c.Height > maxPixels {
			t.Fatalf("%d × %d became %d × %d, %v", p.width, p.height, c.Width, c.Height, err)
		}
	})
}

func FuzzRecognize(f *testing.F) {
	for _, seed := range []string{"ID3\x04\x00\x00\x00\x00\x02\x01", "OggS\x00", "\x00\x00\x00\x20ftypisom", "\x1a\x45\xdf\xa3", "RIFF\x24\x00\x00\x00WAVE"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		for _, kind := range []Kind{KindPicture, KindAudio, KindVideo} {
			if one, err := recognize(kind, head); err == nil && !strings.HasPrefix(one.mediaType, map[Kind]string{KindPicture: "image/", KindAudio: "audio/", KindVideo: "video/"}[kind]) {
				t.Fatalf("%s is %s", kind, one.mediaType)
			}
		}
	})
}
