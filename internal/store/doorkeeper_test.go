package store

import "testing"

func TestDoorkeeper(t *testing.T) {
	const size = 300
	mine, other := purchaseKey{7, "code 1"}, purchaseKey{8, "code 1"}
	full := func() *doorkeeper {
		d := newDoorkeeper(2 * size)
		for d.room.Load() > 0 {
			d.admits(purchaseKey{1, "first"}, size)
		}
		return d
	}
	cases := []struct {
		name string
		ask  func(*doorkeeper) bool
		want bool
	}{
		{"a purchase is let in while there is room", func(*doorkeeper) bool { return newDoorkeeper(size).admits(mine, size) }, true},
		{"the first question is not enough once it is full", func(d *doorkeeper) bool { return d.admits(mine, size) }, false},
		{"the second question is", func(d *doorkeeper) bool { d.admits(mine, size); return d.admits(mine, size) }, true},
		{"one for the same code of another workspace is no second", func(d *doorkeeper) bool { d.admits(other, size); return d.admits(mine, size) }, false},
		{"when all was dropped there is room again", func(d *doorkeeper) bool { d.emptied(); return d.admits(mine, size) }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.ask(full()); got != c.want {
				t.Errorf("let in: %t, want %t", got, c.want)
			}
		})
	}
}
