//go:build linux

package main

import "testing"

func TestParseStat(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		pid, parent int
		fails       bool
	}{
		"a process":               {"17 (postgres) S 4 17 17 0", 17, 4, false},
		"a name with parentheses": {"17 (a) b) c) S 4 17", 17, 4, false},
		"something else":          {"", 0, 0, true},
		"no numbers":              {"x (y) S z 1", 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			pid, parent, err := parseStat(c.text)
			if (err != nil) != c.fails || pid != c.pid || parent != c.parent {
				t.Errorf("%d, %d, error %v", pid, parent, err)
			}
		})
	}
}
