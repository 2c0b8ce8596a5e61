package requests

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someRows(n int) (rows []row) {
	for i := range n {
		r := row{numbers: [...]int64{int64(noon.UnixMilli())<<21 + int64(i*i), int64(i % 3), int64(i % 5), int64(i % 700), int64(i), 200, int64(i * 7)}}
		for c := range r.texts {
			r.texts[c] = []byte(fmt.Sprint(c, "-", i%(1+c*300)))
		}
		r.texts[columnReason] = []byte([]string{"", "", "key_unknown"}[i%3])
		rows = append(rows, r)
	}
	return rows
}

func TestABlockIsDecodedAsItWasEncoded(t *testing.T) {
	w := newEncoder(1000)
	for _, n := range []int{1, 2, 999, 1000, 2500} {
		rows := someRows(n)
		for i := range rows {
			w.add(&rows[i])
		}
		var got []row
		for _, b := range w.blocks() {
			var decoded columns
			if err := decoded.decode(b.data); err != nil || int64(decoded.calls) != b.calls || decoded.numbers[columnID][0] != b.first || decoded.numbers[columnID][b.calls-1] != b.last {
				t.Fatal(err, b.calls)
			}
			for i := range decoded.calls {
				got = append(got, decoded.row(i))
			}
		}
		if diff := cmp.Diff(rows, got, cmp.AllowUnexported(row{})); diff != "" {
			t.Errorf("%d rows: %s", n, diff)
		}
	}
}

func TestAFilterHasItsValuesAndFewOthers(t *testing.T) {
	var hashes []uint64
	for v := range int64(3000) {
		hashes = append(hashes, hashNumber(columnItem, v))
	}
	filter, wrong := newFilter(hashes), 0
	bucket := func(h uint64) []byte {
		at := (uint64(len(filter)/bucketBytes) * (h >> 32) >> 32) * bucketBytes
		return filter[at : at+bucketBytes]
	}
	for v := range int64(6000) {
		h := hashNumber(columnItem, v)
		switch has := mayHave(bucket(h), h); {
		case v < 3000 && !has:
			t.Fatalf("%d is missing", v)
		case v >= 3000 && has:
			wrong++
		}
	}
	if wrong > 60 {
		t.Errorf("%d of 3000 wrong answers", wrong)
	}
	if len(filter) > 3000*filterBits/8+bucketBytes {
		t.Errorf("%d bytes", len(filter))
	}
}

func FuzzDecode(f *testing.F) {
	for _, n := range []int{1, 20} {
		w := newEncoder(100)
		rows := someRows(n)
		for i := range rows {
			w.add(&rows[i])
		}
		raw, err := decompressor.DecodeAll(w.blocks()[0].data, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b columns
		if b.decode(compressor.EncodeAll(raw, nil)) != nil {
			return
		}
		for i := range b.calls {
			r := b.row(i)
			callOf(r)
			if len(r.texts[columnSent]) > len(raw) {
				t.Fatal("a text that is not there")
			}
		}
	})
}

func FuzzEachSum(f *testing.F) {
	f.Add(packSums(map[int64]int64{0: 1, 5: 3, 1 << 40: 9}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, packed []byte) {
		sum := map[int64]int64{}
		if eachSum(packed, func(id, calls int64) { sum[id] += calls }) != nil {
			return
		}
		again := map[int64]int64{}
		if err := eachSum(packSums(sum), func(id, calls int64) { again[id] += calls }); err != nil || !cmp.Equal(sum, again) {
			t.Fatalf("%v %v %v", err, sum, again)
		}
	})
}
