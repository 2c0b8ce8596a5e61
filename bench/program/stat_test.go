package program

import (
	"testing"
	"time"
)

func TestAStatLineIsRead(t *testing.T) {
	const rest = " 100 100 0 -1 4194560 1 0 0 0 250 130 7 8 20 0 6 0 500 0 0"
	for name, c := range map[string]struct {
		line string
		want Stat
	}{
		"plain":                               {"42 (countersign) S 7" + rest, Stat{42, 7, 3800 * time.Millisecond}},
		"a name with spaces and parentheses":  {"42 (tmux: (x) 1 2) R 7" + rest, Stat{42, 7, 3800 * time.Millisecond}},
		"times of children that ended: no":    {"1 (init) S 0" + rest, Stat{1, 0, 3800 * time.Millisecond}},
		"the newline at the end of the file":  {"42 (a) S 7" + rest + "\n", Stat{42, 7, 3800 * time.Millisecond}},
		"a name that looks like another line": {"42 (9 (b) S 1) S 7" + rest, Stat{42, 7, 3800 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(c.line)
			if err != nil || got != c.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, c.want)
			}
		})
	}
	for name, line := range map[string]string{
		"nothing": "", "no name": "42 S 7" + rest, "cut off": "42 (a) S 7 100", "no numbers": "42 (a) S x" + rest,
	} {
		t.Run(name+" is an error", func(t *testing.T) {
			if got, err := parseStat(line); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}
