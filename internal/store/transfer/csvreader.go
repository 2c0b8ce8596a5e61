package transfer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// separators are those that a CSV file may have.
const separators = ",;\t|"

// csvReader reads rows of CSV in bounded memory: of a row that is longer than maxLine
// only the beginning is kept. A quoted cell may have line breaks.
type csvReader struct {
	*textFile
	separator byte
	said      bool // the separator was
	line      int  // of the current row's beginning, from 1
	lastLine  int  // of the current row
	text      []byte
	cut       bool
	err       error
	source    *bytes.Reader // what the parser reads: one row
	parser    *csv.Reader
	// before are the cells of the last row that could be read, with the number of its line.
	before     []string
	beforeLine int
}

// newCSVReader returns a reader whose first row is the header. encoding is as for [newTextFile].
func newCSVReader(file io.Reader, encoding string) *csvReader {
	r := &csvReader{textFile: newTextFile(file, encoding), separator: ',', source: bytes.NewReader(nil)}
	if head, _ := r.Peek(len("sep=;\r\n")); separatorLine.Match(head) {
		r.separator, r.said = head[len("sep=")], true
		_, _ = r.ReadSlice('\n')
		r.lastLine = 1
	}
	r.newParser()
	return r
}

// separatorLine is a line before the header by which a spreadsheet says what separates cells.
var separatorLine = regexp.MustCompile("^(?i:sep)=[,;\t|]\r?\n")

// newParser forgets what the last one has left of a row that it could not read.
func (r *csvReader) newParser() {
	r.parser = csv.NewReader(r.source)
	r.parser.Comma, r.parser.FieldsPerRecord, r.parser.ReuseRecord = rune(r.separator), -1, true
}

// header reads the names of the columns, and detects the separator unless the file says it: the one
// that occurs most often outside quotes.
func (r *csvReader) header() ([]string, error) {
	if !r.next() {
		if r.err != nil {
			return nil, r.err
		}
		return nil, badf("the file is empty; its first line has to be the names of the columns")
	}
	most, twice := 0, false
	for i := range len(separators) {
		switch n := countUnquoted(r.text, separators[i]); {
		case r.said:
		case n > most:
			most, twice, r.separator = n, false, separators[i]
		case n == most && n > 0:
			twice = true
		}
	}
	if twice {
		return nil, badf("two separators occur equally often in the first line, so the columns can't be told apart; save the file with one separator")
	}
	r.newParser()
	cells, err := r.cells()
	return append([]string(nil), cells...), err
}

func countUnquoted(text []byte, separator byte) (n int) {
	quoted := false
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			n++
		}
	}
	return n
}

// next reads the next row that is not empty. It returns false at the end, or when err
// is set.
func (r *csvReader) next() bool {
	for r.readRow() {
		if len(r.text) > 0 {
			return true
		}
	}
	return false
}

func (r *csvReader) readRow() bool {
	r.text, r.cut, r.line = r.text[:0], false, r.lastLine+1
	in := quoting{separator: r.separator, header: r.line == 1 && !r.said, start: true}
	for read := 0; ; {
		part, err := r.ReadSlice('\n')
		read += len(part)
		in.scan(part)
		if room := maxLine + 2 - len(r.text); len(part) > room {
			part, r.cut = part[:room], true
		}
		r.text = append(r.text, part...)
		if err == nil {
			r.lastLine++
		}
		switch {
		case errors.Is(err, io.EOF) && read == 0:
			return false
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			r.err = err
			return false
		case errors.Is(err, io.EOF) && len(part) > 0 && part[len(part)-1] != '\n':
			r.lastLine++
		}
		if errors.Is(err, io.EOF) || err == nil && !in.quoted {
			break
		}
	}
	r.text = bytes.TrimRight(r.text, "\r\n")
	return true
}

// quoting follows whether a text is within a quoted cell. A quote opens one only at
// its beginning.
type quoting struct {
	separator             byte
	header                bool // any of the separators counts
	start, quoted, closed bool
}

func (q *quoting) scan(text []byte) {
	for _, c := range text {
		if q.quoted {
			q.quoted, q.closed = c != '"', c == '"'
			continue
		}
		q.quoted = c == '"' && (q.start || q.closed) // a quote in a quoted cell is doubled
		q.start, q.closed = c == q.separator || q.header && strings.IndexByte(separators, c) >= 0, false
	}
}

// cells returns the cells of the current row, valid until next. Its errors are
// sentences for the person who wrote the row.
func (r *csvReader) cells() ([]string, error) {
	switch {
	case r.cut || len(r.text) > maxLine:
		return nil, badf("the row is longer than %d bytes: it ends on line %d; a quote may be missing; the row is not copied to the rejected rows", maxLine, r.lastLine)
	case !utf8.Valid(r.text) || r.isConverted() && bytes.ContainsRune(r.text, utf8.RuneError):
		return nil, r.undecodable()
	}
	if cells, ok := r.split(r.text); ok {
		return cells, nil
	}
	if r.lastLine > r.line {
		return nil, badf("a quote is missing or not doubled in the row of the lines %d to %d", r.line, r.lastLine)
	}
	return nil, badf("a quote is missing or not doubled")
}

// protectedCell is ="00123", by which exports keep a spreadsheet from changing a text.
var protectedCell = regexp.MustCompile("(^|[,;\t|])=(\"[^\"]*\")")

// split parses a row, unless its quotes are wrong.
func (r *csvReader) split(row []byte) ([]string, bool) {
	cells, ok := r.parse(row)
	if !ok {
		cells, ok = r.parse(protectedCell.ReplaceAll(row, []byte("$1$2")))
	}
	return cells, ok
}

func (r *csvReader) parse(row []byte) ([]string, bool) {
	r.source.Reset(row)
	cells, err := r.parser.Read()
	if err != nil || r.source.Len() > 0 {
		r.newParser()
		return nil, false
	}
	return cells, true
}

// decoded are the cells of a row that may be in another encoding than its file. ok is false for one that can't be split.
func (r *csvReader) decoded() (cells []string, ok bool) {
	if r.cut || len(r.text) > maxLine {
		return nil, false
	}
	return r.split([]byte(decodedText(r.text)))
}

// undecodable is the error of a row in another encoding than that of the file.
func (r *csvReader) undecodable() error {
	if r.isConverted() {
		return badf("the row is not valid %s; save the file as UTF-8", r.encoding)
	}
	return badf("the row is not valid %s; save the file as UTF-8, or import it as %s, as which this row is copied", r.encoding, EncodingWindows1252)
}

// rowOf writes one row as a file with this separator has it, without its end.
func rowOf(separator byte, cells []string) []byte {
	var row strings.Builder
	out := csv.NewWriter(&row)
	out.Comma = rune(separator)
	_ = out.Write(cells) // to memory
	out.Flush()
	return []byte(strings.TrimSuffix(row.String(), "\n"))
}

// separatorName names a separator for people.
func separatorName(separator byte) string {
	if separator == '\t' {
		return "tab"
	}
	return fmt.Sprintf("%q", string(separator))
}

// IsCSV reports whether a file is CSV rather than JSON Lines, by the end of its name
// or else by its first line. It leaves the file at its beginning.
func IsCSV(file io.ReadSeeker, name string) (bool, error) {
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, ".csv"), strings.HasSuffix(lower, ".tsv"):
		return true, nil
	case strings.HasSuffix(lower, ".jsonl"), strings.HasSuffix(lower, ".json"), strings.HasSuffix(lower, ".ndjson"):
		return false, nil
	}
	r := newCSVReader(io.LimitReader(file, maxLine), "")
	found := r.next() && (r.said || r.text[0] != '{' && r.text[0] != '[' && bytes.ContainsAny(r.text, separators))
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, fmt.Errorf("store: import: the file can't be read a second time: %w", err)
	}
	return found, nil
}
