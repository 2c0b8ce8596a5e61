package requests

// A filter says which values the calls of a block may have, with about one wrong answer in 200. A value has a bit in each
// of the eight words of one bucket, so that a search reads one bucket of a block for each value: a split block Bloom
// filter, as Parquet has it.
const (
	bucketBytes = 32
	filterBits  = 12 // for each value
)

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// newFilter returns a filter with values by their hashes.
func newFilter(hashes []uint64) []byte {
	buckets := uint64(len(hashes)*filterBits/(8*bucketBytes) + 1)
	filter := make([]byte, buckets*bucketBytes)
	for _, h := range hashes {
		at := (h >> 32) * buckets >> 32 * bucketBytes // bucketColumn says the same to the database
		for i, salt := range salts {
			bit := uint32(h) * salt >> 27
			filter[at+uint64(i)*4+uint64(bit/8)] |= 1 << (bit % 8)
		}
	}
	return filter
}

// mayHave reports whether the bucket of a value has all of its bits.
func mayHave(bucket []byte, h uint64) bool {
	if len(bucket) < bucketBytes {
		return true
	}
	for i, salt := range salts {
		if bit := uint32(h) * salt >> 27; bucket[uint32(i)*4+bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// hashFailed stands for calls that failed.
const hashFailed = 0x9e3779b97f4a7c15

// hashNumber returns the hash of a value in a column of numbers, always the same one (SplitMix64).
func hashNumber(column int, v int64) uint64 {
	h := uint64(v)*0x9e3779b97f4a7c15 + uint64(column)<<56
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// hashText is hashNumber for a column of texts (FNV-1a below).
func hashText(column int, text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return hashNumber(numberColumns+column, int64(h))
}
