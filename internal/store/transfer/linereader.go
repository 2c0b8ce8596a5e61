package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the length of the longest line of an import, in bytes.
const maxLine = 1 << 20

// lineReader reads lines of any length in bounded memory: of a line that is
// longer than maxLine only the beginning is kept.
type lineReader struct {
	*textFile
	number int    // of the current line, from 1
	text   []byte // of the current line, without its end; valid until next
	cut    bool
	err    error
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{textFile: newTextFile(r, "")} }

// next reads a line. It returns false at the end, or when err is set.
func (l *lineReader) next() bool {
	l.text, l.cut = l.text[:0], false
	for first := true; ; first = false {
		part, err := l.ReadSlice('\n')
		if room := maxLine + 2 - len(l.text); len(part) > room {
			part, l.cut = part[:room], true
		}
		l.text = append(l.text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && first && len(part) == 0:
			return false
		case err != nil && !errors.Is(err, io.EOF):
			l.err = err
			return false
		}
		break
	}
	l.number++
	l.text = bytes.TrimSpace(l.text)
	return true
}

func (l *lineReader) tooLong() error {
	if l.cut || len(l.text) > maxLine {
		return badf("the line is longer than %d bytes; it is not copied to the rejected lines", maxLine)
	}
	return nil
}
