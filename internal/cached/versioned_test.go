package cached

import "testing"

func TestAValueIsFoundAtItsVersionOnly(t *testing.T) {
	var c Versioned[string, string]
	c.Store("a", 1, "without a capacity")
	if got, found := c.Find("a", 1); found {
		t.Errorf("the zero cache keeps %q", got)
	}
	SetVersionedCapacity(&c, 1000, func(v string) int { return len(v) })
	c.Store("a", 1, "first")
	if got, found := c.Find("a", 1); !found || got != "first" {
		t.Errorf("version 1: %q, %v", got, found)
	}
	for _, version := range []int64{0, 2} {
		if got, found := c.Find("a", version); found {
			t.Errorf("version %d: %q", version, got)
		}
	}
	c.Store("a", 2, "second")
	if got, found := c.Find("a", 2); !found || got != "second" {
		t.Errorf("version 2: %q, %v", got, found)
	}
	if _, found := c.Find("b", 2); found {
		t.Error("another key has a value")
	}
}
