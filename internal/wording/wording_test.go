package wording

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000",
		-1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456",
	} {
		expect.Equalf(t, Thousands(n), want, "%d", n)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 entries", 1: "1 entry", 2: "2 entries", 4312: "4,312 entries"} {
		expect.Equalf(t, Count(n, "entry", "entries"), want, "%d", n)
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1,023 bytes", 1 << 10: "1 KB", 2 << 10: "2 KB", 409_600: "400 KB", 419_430: "409.6 KB",
		1<<20 - 1: "1 MB", 1 << 20: "1 MB", 3 << 19: "1.5 MB", 200 << 20: "200 MB", 2 << 30: "2 GB", 5 << 40: "5 TB", 5000 << 40: "5000 TB",
	} {
		expect.Equalf(t, Size(bytes), want, "%d", bytes)
	}
}

func TestShortened(t *testing.T) {
	for text, want := range map[string]string{"": "", "äöü": "äöü", "äöüß": "äöü… (4 characters)"} {
		expect.Equalf(t, Shortened(text, 3), want, "%q becomes", text)
	}
}
