package sqldb

import "testing"

func TestWhichIdleReaderIsTaken(t *testing.T) {
	first, second, busy := new(reader), new(reader), new(reader)
	cases := []struct {
		name string
		idle []*reader
		near *reader
		want *reader
	}{
		{"the one that this processor used last", []*reader{nil, first, second}, first, first},
		{"the one used last by any, when that one is in use", []*reader{nil, first, second}, busy, second},
		{"the one used last by any, when this processor used none", []*reader{nil, first, second}, nil, second},
		{"one that is to be opened, when there is no other", []*reader{nil, nil}, busy, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &readers{idle: c.idle}
			n := len(c.idle)
			if got := r.takeIdle(c.near); got != c.want {
				t.Errorf("took %p, want %p", got, c.want)
			}
			if len(r.idle) != n-1 {
				t.Errorf("%d are idle of %d", len(r.idle), n)
			}
		})
	}
}
