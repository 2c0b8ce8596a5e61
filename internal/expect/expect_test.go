package expect

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// noting notes what a test reports, in place of reporting it.
type noting struct {
	testing.TB
	said string
}

func (n *noting) Helper() {}

func (n *noting) Error(args ...any) { n.said += fmt.Sprint(args...) }

func (n *noting) Errorf(format string, args ...any) { n.said += fmt.Sprintf(format, args...) }

func TestOnlyWhatIsNotExpectedIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report func(t testing.TB)
		want   string
	}{
		{func(t testing.TB) { Equal(t, 1, 1) }, ""},
		{func(t testing.TB) { Equalf(t, "a", "a", "the name") }, ""},
		{func(t testing.TB) { Equal(t, 1, 2) }, "got 1, want 2"},
		{func(t testing.TB) { Equalf(t, "a", "", "the name of %d", 7) }, `the name of 7: got "a", want ""`},
		{func(t testing.TB) { Equal(t, strings.Repeat("a\n", 10_000), "b\nc") }, "got " + strings.Repeat("a\n", 5_000) + "…, want b\nc"},
		{func(t testing.TB) { NoError(t, nil); NoErrorf(t, nil, "reading") }, ""},
		{func(t testing.TB) { NoError(t, io.EOF) }, "EOF"},
		{func(t testing.TB) { NoErrorf(t, io.EOF, "reading line %d", 7) }, "reading line 7: EOF"},
	} {
		var n noting
		if c.report(&n); n.said != c.want {
			t.Errorf("%q, want %q", n.said, c.want)
		}
	}
}
