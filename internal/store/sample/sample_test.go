package sample

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/countersign/countersign/internal/must"
)

func TestTheShopIsTheSameEverywhere(t *testing.T) {
	for name, c := range map[string]struct {
		shop io.Reader
		want string
	}{
		"without keys": {Reader(Options{}), "5b7154444a479d8241109938f807c65fc10836ba343c77b8a33df490972c1ff5"},
		"with keys":    {Reader(Options{Keys: true}), "8b5268bc73756568045759ca1037f15036bdc8f5aa5a46c2f1299266ea526e8e"},
		"big":          {Big(10, 100), "90d0ba3a7012227da6f63804a78462686d295b7cee6a88f0ec536dacb57a25cb"},
	} {
		t.Run(name, func(t *testing.T) {
			sum := sha256.New()
			must.Get(io.Copy(sum, c.shop))(t)
			if got := hex.EncodeToString(sum.Sum(nil)); got != c.want {
				t.Errorf("the shop has changed: SHA-256 %s, pinned %s", got, c.want)
			}
		})
	}
}

// The demo's sales follow today: the whole story moves, and its codes stay.
func TestTheStoryMovesToADay(t *testing.T) {
	until := time.Date(2031, 5, 6, 7, 0, 0, 0, time.UTC)
	was, is := shop(Options{}), shop(Options{Until: until})
	newest := time.Time{}
	for i := range is {
		if !strings.HasPrefix(is[i], `{"type":"purchase"`) {
			continue
		}
		before, now := decoded[purchase](was[i])[0], decoded[purchase](is[i])[0]
		before = before.moved(until.Sub(End()))
		if before.line() != now.line() {
			t.Fatalf("%s\nis now %s", was[i], is[i])
		}
		newest = now.Date.Time
	}
	if newest.After(until) || newest.Before(until.AddDate(0, 0, -3)) {
		t.Errorf("the newest sale is of %s", newest)
	}
	items := decoded[item](itemLines)
	if first := decoded[item](is[len(embedded(workspaceLines))])[0]; !first.PublishedAt.Equal(items[0].PublishedAt.Add(until.Sub(End()))) {
		t.Errorf("the first item is published on %s", first.PublishedAt)
	}
}

func TestReaderWritesTheLines(t *testing.T) {
	var want strings.Builder
	for _, line := range shop(Options{Keys: true}) {
		want.WriteString(line + "\n")
	}
	for name, r := range map[string]io.Reader{
		"in large pieces": Reader(Options{Keys: true}),
		"byte by byte":    iotest.OneByteReader(Reader(Options{Keys: true})),
	} {
		got, err := io.ReadAll(r)
		if err != nil || string(got) != want.String() {
			t.Errorf("%s: %d bytes, error %v; want %d bytes", name, len(got), err, want.Len())
		}
	}
}

func TestReadersStartAgain(t *testing.T) {
	for name, r := range map[string]io.ReadSeeker{"shop": Reader(Options{}), "big": Big(3, 20)} {
		half := make([]byte, 1000)
		must.Get(io.ReadFull(r, half))(t)
		if _, err := r.Seek(10, io.SeekStart); err == nil {
			t.Errorf("%s: seeks into its middle", name)
		}
		if at, err := r.Seek(0, io.SeekStart); at != 0 || err != nil {
			t.Fatalf("%s: at %d, error %v", name, at, err)
		}
		again := make([]byte, 1000)
		if _, err := io.ReadFull(r, again); err != nil || string(again) != string(half) {
			t.Errorf("%s: begins differently the second time, error %v", name, err)
		}
	}
}

func TestTheShopHasItsSize(t *testing.T) {
	s := readShop(t, Reader(Options{Keys: true}))
	kinds := map[string]int{}
	owners := map[string]int{}
	for _, it := range s.items {
		kinds[it.Kind]++
		owners[it.Workspace]++
	}
	if len(s.items) != 40 || len(s.purchases) != 1200 || len(s.keys) != len(s.workspaces)+1 {
		t.Errorf("%d items, %d purchases, %d keys, %d workspaces", len(s.items), len(s.purchases), len(s.keys), len(s.workspaces))
	}
	if kinds["audio"] < 10 || kinds["video"] < 10 || kinds["other"] < 10 {
		t.Errorf("items by kind: %v", kinds)
	}
	if len(s.workspaces) != len(owners)+1 || len(owners) < 3 || owners[emptyWorkspace] != 0 {
		t.Errorf("items by workspace: %v of %d workspaces; want one empty one", owners, len(s.workspaces))
	}
}

func TestThereAreNoKeysUnlessAskedFor(t *testing.T) {
	for _, line := range shop(Options{}) {
		if strings.Contains(line, `"type":"key"`) || strings.Contains(line, "csk_") {
			t.Fatalf("a key line: %s", line)
		}
	}
}

func TestTheSalesAreMixed(t *testing.T) {
	s := readShop(t, Reader(Options{}))
	count := map[string]int{}
	perItem := map[int64]int{}
	for _, p := range s.purchases {
		count[p.State]++
		count[p.LicenseType]++
		count["length "+map[bool]string{true: "35", false: "36"}[len(p.PurchaseCode) == 35]]++
		if p.PurchaseCode == strings.ToUpper(p.PurchaseCode) {
			count["upper case"]++
		}
		if p.Downloaded {
			count["downloaded"]++
		}
		if p.SupportedUntil != "" {
			count["supported"]++
			if !s.items[p.ItemID].Support {
				count["support switched off since"]++
			}
		}
		perItem[p.ItemID]++
	}
	for what, limits := range map[string][2]int{
		"active": {1100, 1180}, "refunded": {15, 60}, "charged_back": {3, 20}, "revoked": {3, 20},
		"Regular": {1050, 1150}, "Extended": {50, 150}, "downloaded": {900, 1100}, "supported": {600, 900},
		"upper case": {20, 120}, "length 35": {20, 120}, "support switched off since": {5, 80},
	} {
		if n := count[what]; n < limits[0] || n > limits[1] {
			t.Errorf("%s: %d, want %d to %d", what, n, limits[0], limits[1])
		}
	}
	most, least := 0, len(s.purchases)
	for id := range s.items {
		most, least = max(most, perItem[id]), min(least, perItem[id])
	}
	if least == 0 || most < 8*least {
		t.Errorf("best seller %d, worst %d: want a popular item and none unsold", most, least)
	}
}
