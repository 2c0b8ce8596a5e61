package wording

import "testing"

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000",
		-1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 entries", 1: "1 entry", 2: "2 entries", 4312: "4,312 entries"} {
		if got := Count(n, "entry", "entries"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestShortened(t *testing.T) {
	for text, want := range map[string]string{"": "", "äöü": "äöü", "äöüß": "äöü… (4 characters)"} {
		if got := Shortened(text, 3); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
