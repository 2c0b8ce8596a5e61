package transfer

import (
	"time"
)

// ImportProgress is how far an import is.
type ImportProgress struct {
	// ReadBytes of SizeBytes have been read. When all are, the import writes.
	ReadBytes int64 `json:"read_bytes"`
	SizeBytes int64 `json:"size_bytes"`
	Lines     int   `json:"lines"`
	Bad       int   `json:"bad"`
	// ReadMillis is for how long it has read, in milliseconds.
	ReadMillis int64 `json:"read_ms"`
}

// IsRead reports whether the whole file has been read.
func (p ImportProgress) IsRead() bool { return p.ReadBytes >= p.SizeBytes && p.Lines > 0 }

// LinesPerSecond is how fast the file is read, 0 while that is not known.
func (p ImportProgress) LinesPerSecond() int64 {
	if p.ReadMillis <= 0 {
		return 0
	}
	return int64(p.Lines) * 1000 / p.ReadMillis
}

// ReadingLeft is how long the rest of the file will take to be read at the speed so far, 0 while
// that is not known.
func (p ImportProgress) ReadingLeft() time.Duration {
	if p.ReadBytes <= 0 {
		return 0
	}
	left := float64(p.SizeBytes-p.ReadBytes) / float64(p.ReadBytes)
	return time.Duration(left * float64(p.ReadMillis) * float64(time.Millisecond))
}
