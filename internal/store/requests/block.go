package requests

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"

	"github.com/klauspost/compress/zstd"
)

// The columns of a block with numbers.
const (
	columnID = iota
	columnWorkspace
	columnKey
	columnItem
	columnPurchase
	columnStatus
	columnMicros
	numberColumns
)

// The columns of a block with texts.
const (
	columnEndpoint = iota
	columnMethod
	columnReason
	columnAddress // binary
	columnAgent
	columnSent
	textColumns
)

// row is a call as blocks have it.
type row struct {
	numbers [numberColumns]int64
	texts   [textColumns][]byte
}

func (r *row) id() int64 { return r.numbers[columnID] }

// block is calls of about the same time, in the order of their ids.
type block struct {
	first, last, calls int64
	filter, data       []byte
}

// errDamaged means that what the log holds can't be read.
var errDamaged = errors.New("requests: a block or a sum is damaged")

// Neither holds memory before it is used.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(64<<20))
)

// encoder makes blocks of calls that are added in the order of their ids. A block is of one day, so that it is pruned in time.
type encoder struct {
	size               int64 // of a block at most
	done               []block
	first, last, calls int64
	numbers            [numberColumns][]byte
	texts              [textColumns]dictionary
	hashes             []uint64        // for the filter
	noted              [4 << 10]uint64 // hashes that are known to be among these
	seed               maphash.Seed
	raw, scratch       []byte
}

func newEncoder(size int64) *encoder { return &encoder{size: size, seed: maphash.MakeSeed()} }

// dictionary is a column of texts. A text that was not found among the ones before has the index 0.
type dictionary struct {
	index, values []byte
	count         uint64
	recent        [256]struct {
		from, to int
		number   uint64
	}
}

// add adds the text of the next call, and reports whether it is new.
func (d *dictionary) add(text []byte, hash uint64) bool {
	known := &d.recent[hash%uint64(len(d.recent))]
	if known.number != 0 && bytes.Equal(d.values[known.from:known.to], text) {
		d.index = binary.AppendUvarint(d.index, known.number)
		return false
	}
	d.index = append(d.index, 0)
	d.values = binary.AppendUvarint(d.values, uint64(len(text)))
	d.count++
	known.from, known.number = len(d.values), d.count
	d.values = append(d.values, text...)
	known.to = len(d.values)
	return true
}

// add adds the next call, in the order of the ids.
func (w *encoder) add(r *row) {
	id := r.id()
	if w.calls == w.size || w.calls > 0 && dayOf(w.last) != dayOf(id) {
		w.end()
	}
	for c, v := range r.numbers {
		if c == columnID {
			v -= w.last
		}
		w.numbers[c] = binary.AppendUvarint(w.numbers[c], uint64(v))
		if columnWorkspace <= c && c <= columnPurchase && v != 0 {
			w.note(hashNumber(c, v))
		}
	}
	if w.calls == 0 {
		w.first = id
	}
	w.last = id
	w.calls++
	for c, text := range r.texts {
		if !w.texts[c].add(text, maphash.Bytes(w.seed, text)) {
			continue
		}
		switch c {
		case columnReason:
			if len(text) > 0 {
				w.note(hashFailed)
			}
			fallthrough
		case columnEndpoint, columnAddress:
			w.note(hashText(c, string(text)))
		}
	}
}

// note adds a value to the filter.
func (w *encoder) note(hash uint64) {
	if known := &w.noted[hash%uint64(len(w.noted))]; *known != hash {
		*known = hash
		w.hashes = append(w.hashes, hash)
	}
}

// blocks returns the blocks of all calls that were added.
func (w *encoder) blocks() (done []block) {
	w.end()
	done, w.done = w.done, nil
	return done
}

// end ends a block.
func (w *encoder) end() {
	if w.calls == 0 {
		return
	}
	w.raw = binary.AppendUvarint(w.raw[:0], uint64(w.calls))
	section := func(s *[]byte) {
		w.raw = append(binary.AppendUvarint(w.raw, uint64(len(*s))), *s...)
		*s = (*s)[:0]
	}
	for c := range w.numbers {
		section(&w.numbers[c])
	}
	for c := range w.texts {
		d := &w.texts[c]
		section(&d.index)
		section(&d.values)
		d.count = 0
		clear(d.recent[:])
	}
	w.done = append(w.done, block{w.first, w.last, w.calls, newFilter(w.hashes), compressor.EncodeAll(w.raw, nil)})
	w.last, w.calls, w.hashes = 0, 0, w.hashes[:0]
	clear(w.noted[:])
}

// columns is a block that was decoded.
type columns struct {
	calls   int
	numbers [numberColumns][]int64
	index   [textColumns][]int
	values  [textColumns][][]byte
}

func (b *columns) text(c, i int) []byte { return b.values[c][b.index[c][i]] }

// row returns a call.
func (b *columns) row(i int) (r row) {
	for c := range r.numbers {
		r.numbers[c] = b.numbers[c][i]
	}
	for c := range r.texts {
		r.texts[c] = b.text(c, i)
	}
	return r
}

// decode reads the data of a block.
func decode(data []byte) (*columns, error) {
	raw, err := decompressor.DecodeAll(data, nil)
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	r := &reader{rest: raw}
	b := &columns{calls: int(r.number())}
	if b.calls < 0 || b.calls > len(raw) {
		return nil, errDamaged
	}
	for c := range b.numbers {
		b.numbers[c] = r.numbers(b.calls)
	}
	for i := 1; i < b.calls; i++ {
		b.numbers[columnID][i] += b.numbers[columnID][i-1]
	}
	for c := range b.index {
		b.index[c], b.values[c] = r.texts(b.calls)
	}
	if r.bad {
		return nil, errDamaged
	}
	return b, nil
}

// reader reads variable-length numbers, and bytes behind their length.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() int64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int64(v)
}

func (r *reader) bytes() (text []byte) {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	text, r.rest = r.rest[:n], r.rest[n:]
	return text
}

// numbers reads a section of n numbers.
func (r *reader) numbers(n int) []int64 {
	section, list := reader{rest: r.bytes()}, make([]int64, n)
	for i := range list {
		list[i] = section.number()
	}
	r.bad = r.bad || section.bad
	return list
}

// texts reads the two sections of a [dictionary].
func (r *reader) texts(n int) (index []int, values [][]byte) {
	numbers, texts := r.numbers(n), reader{rest: r.bytes()}
	index = make([]int, n)
	for i, number := range numbers {
		if number == 0 {
			values = append(values, texts.bytes())
			number = int64(len(values))
		}
		if index[i] = int(number) - 1; index[i] < 0 || index[i] >= len(values) {
			r.bad = true
		}
	}
	r.bad = r.bad || texts.bad
	return index, values
}
