package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/countersign/countersign/internal/fault"
)

// The encodings of a file, for people.
const (
	encodingUTF8    = "UTF-8"
	encodingUTF8BOM = "UTF-8 with BOM"
	encodingUTF16LE = "UTF-16 LE"
	encodingUTF16BE = "UTF-16 BE"
	encodingUTF32LE = "UTF-32 LE"
	encodingUTF32BE = "UTF-32 BE"
	// EncodingWindows1252 is that of older Windows programs. It can't be told from others, so
	// somebody has to say it.
	EncodingWindows1252 = "Windows-1252"
)

// byteOrderMark begins the rejected rows of a file that was not plain UTF-8: some spreadsheets
// take a file for UTF-8 only then.
const byteOrderMark = "\ufeff"

// decoders turn other encodings into UTF-8, without a mark.
var decoders = map[string]encoding.Encoding{
	encodingUTF16LE:     unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	encodingUTF16BE:     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	encodingUTF32LE:     utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	encodingUTF32BE:     utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
	EncodingWindows1252: charmap.Windows1252,
}

// textFile is a text in UTF-8 without a mark, made from a file of another encoding.
type textFile struct {
	*bufio.Reader
	bytes    *byteCounter // of the file, before decoding
	encoding string
}

// isConverted reports whether what can't be decoded has become [utf8.RuneError].
func (f *textFile) isConverted() bool { return decoders[f.encoding] != nil }

// newTextFile opens a file. said is EncodingWindows1252 for one without a mark, or "" for the
// encoding that its first bytes show.
func newTextFile(file io.Reader, said string) *textFile {
	const room = 64 << 10
	f := &textFile{bytes: &byteCounter{from: file}}
	f.Reader = bufio.NewReaderSize(f.bytes, room)
	head, _ := f.Peek(4) // an error comes again with the first line
	f.encoding = encodingOf(head)
	if f.encoding == encodingUTF8 && said != "" {
		f.encoding = said
	}
	if f.encoding == encodingUTF8BOM {
		_, _ = f.Discard(len(byteOrderMark))
	}
	if d := decoders[f.encoding]; d != nil {
		f.Reader = bufio.NewReaderSize(d.NewDecoder().Reader(f.Reader), room)
	}
	if start, _ := f.Peek(room); bytes.IndexByte(start, '\r') >= 0 && bytes.IndexByte(start, '\n') < 0 {
		f.Reader = bufio.NewReaderSize(carriageReturns{f.Reader}, room)
	}
	return f
}

// encodingOf is what the first bytes of a file show: a mark, or the places of the zeros of ASCII.
func encodingOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(byteOrderMark)):
		return encodingUTF8BOM
	case bytes.Equal(head, []byte{0xff, 0xfe, 0, 0}):
		return encodingUTF32LE
	case bytes.Equal(head, []byte{0, 0, 0xfe, 0xff}):
		return encodingUTF32BE
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return encodingUTF16LE
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return encodingUTF16BE
	}
	var zeros [4]bool
	for i, b := range head {
		zeros[i] = b == 0
	}
	switch zeros {
	case [4]bool{false, true, true, true}:
		return encodingUTF32LE
	case [4]bool{true, true, true, false}:
		return encodingUTF32BE
	case [4]bool{false, true, false, true}:
		return encodingUTF16LE
	case [4]bool{true, false, true, false}:
		return encodingUTF16BE
	}
	return encodingUTF8
}

// IsPlain reports whether the file was read as UTF-8 because nothing shows another encoding.
func (r CSVReport) IsPlain() bool { return r.Encoding == encodingUTF8 }

// checkEncoding is an error for an encoding that nobody can choose.
func checkEncoding(said string) error {
	if said != "" && said != EncodingWindows1252 {
		return fault.Invalid("import_encoding", fmt.Sprintf("Invalid encoding %.40q: use %s, or omit it for UTF-8, UTF-16 and UTF-32", said, EncodingWindows1252))
	}
	return nil
}

// checkNotUTF8 is an error when a file that somebody says is of an older encoding has lines that are UTF-8:
// they would be read as other characters. A mark says more than somebody.
func checkNotUTF8(file io.ReadSeeker, said string) error {
	if said == "" {
		return nil
	}
	line, err := firstLineInUTF8(bufio.NewReaderSize(file, 64<<10))
	if _, back := file.Seek(0, io.SeekStart); back != nil {
		err = errors.Join(err, back)
	}
	switch {
	case err != nil:
		return fmt.Errorf("store: import: %w", err)
	case line > 0:
		return fault.Invalid("import_utf8", fmt.Sprintf("Line %d has characters in UTF-8, so the file is not %s. Import it as UTF-8: the lines of another encoding are then rejected, and copied for a correction", line, said))
	}
	return nil
}

// firstLineInUTF8 is the number of the first line that is valid UTF-8 and has more than ASCII, 0 for none.
func firstLineInUTF8(r *bufio.Reader) (int, error) {
	if head, _ := r.Peek(4); encodingOf(head) != encodingUTF8 {
		return 0, nil
	}
	for line := 1; ; {
		text, err := r.ReadSlice('\n')
		if utf8.Valid(text) && utf8.RuneCount(text) < len(text) {
			return line, nil
		}
		switch {
		case err == nil:
			line++
		case errors.Is(err, io.EOF):
			return 0, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}

// decodedText is a text in UTF-8 in which somebody has put bytes of older Windows programs.
func decodedText(text []byte) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(text[0])
		}
		out.WriteRune(r)
		text = text[size:]
	}
	return out.String()
}

// byteCounter counts what is read.
type byteCounter struct {
	from io.Reader
	n    int64
}

// Read implements [io.Reader].
func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// carriageReturns makes the line ends of old programs "\n".
type carriageReturns struct{ from io.Reader }

// Read implements [io.Reader].
func (c carriageReturns) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}
