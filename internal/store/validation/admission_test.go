package validation

import "testing"

func TestAdmission(t *testing.T) {
	const size = 300
	mine, other := purchaseKey{7, "code 1"}, purchaseKey{8, "code 1"}
	full := func() *admission {
		d := newAdmission(2 * size)
		for d.room.Load() > 0 {
			d.admits(purchaseKey{1, "first"}, size)
		}
		return d
	}
	cases := []struct {
		name string
		ask  func(*admission) bool
		want bool
	}{
		{"a purchase is let in while there is room", func(*admission) bool { return newAdmission(size).admits(mine, size) }, true},
		{"the first question is not enough once it is full", func(d *admission) bool { return d.admits(mine, size) }, false},
		{"the second question is", func(d *admission) bool { d.admits(mine, size); return d.admits(mine, size) }, true},
		{"one for the same code of another workspace is no second", func(d *admission) bool { d.admits(other, size); return d.admits(mine, size) }, false},
		{"when all was dropped there is room again", func(d *admission) bool { d.emptied(); return d.admits(mine, size) }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.ask(full()); got != c.want {
				t.Errorf("let in: %t, want %t", got, c.want)
			}
		})
	}
}
