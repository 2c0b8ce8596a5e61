package sample

import (
	"regexp"
	"testing"
	"time"
)

func TestEveryItemIsDescribedInItsOwnWords(t *testing.T) {
	s := readShop(t, Reader(Options{}))
	seen := map[string]int64{}
	sentence := regexp.MustCompile(`[.!?]( |$)`)
	for id, it := range s.items {
		if n := len(sentence.FindAllString(it.Description, -1)); n < 2 || n > 3 {
			t.Errorf("item %d: %d sentences, want 2 or 3: %s", id, n, it.Description)
		}
		for _, text := range []string{it.Name, it.Description, it.DemoLink, it.Media.Thumbnail} {
			if other, twice := seen[text]; twice {
				t.Errorf("items %d and %d share %q", other, id, text)
			}
			seen[text] = id
		}
	}
}

func TestSalesCoverEighteenMonthsInOrder(t *testing.T) {
	s := readShop(t, Reader(Options{}))
	first, last := parseTime(s.purchases[0].Date), parseTime(s.purchases[len(s.purchases)-1].Date)
	start := End().AddDate(0, -18, 0)
	if first.Before(start) || first.Sub(start) > 7*24*time.Hour || End().Sub(last) > 24*time.Hour {
		t.Errorf("sales from %v to %v, want %v to %v", first, last, start, End())
	}
	for i := 1; i < len(s.purchases); i++ {
		if parseTime(s.purchases[i].Date).Before(parseTime(s.purchases[i-1].Date)) {
			t.Fatalf("purchase %d is older than the one before it", i)
		}
	}
}
