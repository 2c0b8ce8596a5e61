package requests

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"

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
	allColumns = numberColumns + textColumns
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
	columns            [allColumns][]byte  // of texts, their numbers in the dictionary: 0 for the next one
	texts              [textColumns][]byte // the dictionaries, each text behind its length
	recent             [textColumns][256]struct {
		from, to int
		number   uint64
	}
	count  [textColumns]uint64
	noted  [4 << 10]uint64 // hashes that are known to be in the filter
	hashes []uint64        // for the filter
	seed   maphash.Seed
	buffer []byte
}

func newEncoder(size int64) *encoder { return &encoder{size: size, seed: maphash.MakeSeed()} }

// add adds the next call.
func (w *encoder) add(r *row) {
	id := r.id()
	if w.calls == w.size || w.calls > 0 && dayOf(w.last) != dayOf(id) {
		w.end()
	}
	for c, v := range r.numbers {
		if c == columnID {
			v -= w.last
		}
		w.columns[c] = binary.AppendUvarint(w.columns[c], uint64(v))
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
		isNew := w.addText(c, text)
		if isNew && c == columnReason && len(text) > 0 {
			w.note(hashFailed)
		}
		if isNew && (c == columnReason || c == columnEndpoint || c == columnAddress) {
			w.note(hashText(c, string(text)))
		}
	}
}

// addText adds a text, and reports whether it was not found among those before.
func (w *encoder) addText(c int, text []byte) bool {
	known, column := &w.recent[c][maphash.Bytes(w.seed, text)%uint64(len(w.recent[c]))], &w.columns[numberColumns+c]
	if known.number != 0 && bytes.Equal(w.texts[c][known.from:known.to], text) {
		*column = binary.AppendUvarint(*column, known.number)
		return false
	}
	*column = append(*column, 0)
	w.count[c]++
	all := binary.AppendUvarint(w.texts[c], uint64(len(text)))
	known.from, known.to, known.number = len(all), len(all)+len(text), w.count[c]
	w.texts[c] = append(all, text...)
	return true
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
	w.buffer = binary.AppendUvarint(w.buffer[:0], uint64(w.calls))
	for _, sections := range [][][]byte{w.columns[:], w.texts[:]} {
		for i, s := range sections {
			w.buffer = append(binary.AppendUvarint(w.buffer, uint64(len(s))), s...)
			sections[i] = s[:0]
		}
	}
	w.done = append(w.done, block{w.first, w.last, w.calls, newFilter(w.hashes), compressor.EncodeAll(w.buffer, nil)})
	w.last, w.calls, w.hashes = 0, 0, w.hashes[:0]
	clear(w.noted[:])
	clear(w.recent[:])
	clear(w.count[:])
}

// columns is a block that was decoded.
type columns struct {
	calls   int
	numbers [allColumns][]int64 // of texts, their places in the dictionary
	texts   [textColumns][][]byte
}

func (b *columns) text(c, i int) []byte { return b.texts[c][b.numbers[numberColumns+c][i]] }

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

// decode reads the data of a block into b, whose memory it uses again. Rows of the block before stay as they are.
func (b *columns) decode(data []byte) error {
	raw, err := decompressor.DecodeAll(data, nil)
	if err != nil {
		return errors.Join(errDamaged, err)
	}
	r := &reader{rest: raw}
	b.calls = int(r.number())
	if b.calls < 0 || b.calls > len(raw) {
		return errDamaged
	}
	for c := range b.numbers {
		b.numbers[c] = slices.Grow(b.numbers[c][:0], b.calls)[:b.calls]
		section := reader{rest: r.bytes()}
		section.numbers(b.numbers[c])
		r.bad = r.bad || section.bad
	}
	for i := 1; i < b.calls; i++ {
		b.numbers[columnID][i] += b.numbers[columnID][i-1]
	}
	for c := range b.texts {
		section, places, count := reader{rest: r.bytes()}, b.numbers[numberColumns+c], 0
		for i, number := range places {
			if number == 0 {
				count++
				number = int64(count)
			}
			places[i] = number - 1
			r.bad = r.bad || number < 1 || number > int64(count)
		}
		b.texts[c] = slices.Grow(b.texts[c][:0], count)[:count]
		for i := range b.texts[c] {
			b.texts[c][i] = section.bytes()
		}
		r.bad = r.bad || section.bad
	}
	if r.bad {
		return errDamaged
	}
	return nil
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

// numbers is number many times.
func (r *reader) numbers(list []int64) {
	rest := r.rest
	for i := range list {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			r.bad = true
			return
		}
		list[i], rest = int64(v), rest[n:]
	}
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
