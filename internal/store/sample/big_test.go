package sample

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestBigIsAShop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ items, purchases, wantItems int }{
		"some of everything":    {50, 3000, 50},
		"one item at the least": {0, 10, 1},
		"nothing sold":          {3, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := readShop(t, Big(c.items, c.purchases))
			if len(s.items) != c.wantItems || len(s.purchases) != c.purchases {
				t.Fatalf("%d items, %d purchases", len(s.items), len(s.purchases))
			}
			expect.Equalf(t, s.keys[BigKey()].Workspace, BigWorkspace, "keys: %v", s.keys)
			for i, p := range s.purchases {
				if p.PurchaseCode != BigCode(i) || p.State != "active" || p.PurchaseCode != strings.ToLower(p.PurchaseCode) {
					t.Fatalf("purchase %d is %+v, want the active %s", i, p, BigCode(i))
				}
			}
			for i := range c.wantItems {
				if _, ok := s.items[BigItem(i)]; !ok {
					t.Fatalf("item %d is missing", BigItem(i))
				}
			}
		})
	}
}

func TestBigAndTheShopFitIntoOneStore(t *testing.T) {
	t.Parallel()
	shop, big := readShop(t, Reader(Options{})), readShop(t, Big(500, 500))
	for id := range big.items {
		if _, taken := shop.items[id]; taken {
			t.Errorf("both have item %d", id)
		}
	}
	for code := range big.codes {
		if shop.codes[code] {
			t.Errorf("both have code %s", code)
		}
	}
	if _, taken := shop.workspaces[BigWorkspace]; taken {
		t.Errorf("both have workspace %s", BigWorkspace)
	}
}

func TestAMillionBigCodesDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool, 1_000_000)
	for i := range 1_000_000 {
		start := BigCode(i)[:13] // the 48 bits that promise it
		if seen[start] {
			t.Fatalf("code %d begins like an earlier one: %s", i, start)
		}
		seen[start] = true
	}
}

func TestBigKeepsNothing(t *testing.T) {
	r := Big(10, 40_000)
	before := heapBytes()
	n, err := io.Copy(io.Discard, r)
	if err != nil || n < 10_000_000 {
		t.Fatalf("%d bytes, error %v", n, err)
	}
	if grown := heapBytes() - before; grown > 1<<20 {
		t.Errorf("%d bytes are still held after %d were read", grown, n)
	}
	runtime.KeepAlive(r)
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
