package sample

import (
	"math/rand/v2"
	"sort"
	"time"

	"github.com/countersign/countersign"
)

// item is a line of data/items.jsonl.
type item struct {
	countersign.Item
	Workspace string `json:"workspace"`
	Kind      string `json:"kind"`
	Support   bool   `json:"support"`
}

// moved is the item published so much later.
func (i item) moved(later time.Duration) item {
	i.PublishedAt.Time = i.PublishedAt.Add(later)
	return i
}

// line writes the item in the import format.
func (i item) line() string {
	return lineOf(struct {
		Type string `json:"type"`
		item
	}{"item", i})
}

// shelf draws items as buyers do: a few sell well, most sell now and then.
type shelf struct {
	items []item
	upTo  []int // running total of the weights
}

func newShelf(rng *rand.Rand) shelf {
	s := shelf{items: decoded[item](itemLines)}
	total := 0
	for _, rank := range rng.Perm(len(s.items)) {
		total += 10_000 / (rank + 4)
		s.upTo = append(s.upTo, total)
	}
	return s
}

func (s shelf) draw(rng *rand.Rand) item {
	n := rng.IntN(s.upTo[len(s.upTo)-1])
	return s.items[sort.SearchInts(s.upTo, n+1)]
}
