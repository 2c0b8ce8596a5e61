package sample

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// item is what a purchase needs to know of an item line.
type item struct {
	ID          int64     `json:"id"`
	Workspace   string    `json:"workspace"`
	Kind        string    `json:"kind"`
	Support     bool      `json:"support"`
	Price       price     `json:"price"`
	Currency    string    `json:"currency"`
	PublishedAt time.Time `json:"published_at"`
}

// price is in hundredths of the item's currency.
type price struct{ Regular, Extended hundredths }

type hundredths int64

// UnmarshalJSON reads a JSON number with at most two decimals.
func (h *hundredths) UnmarshalJSON(text []byte) error {
	var amount float64
	if err := json.Unmarshal(text, &amount); err != nil {
		return fmt.Errorf("sample: amount %s: %w", text, err)
	}
	*h = hundredths(math.Round(amount * 100))
	return nil
}

// items returns the items of the shop in the order of their lines.
func items() []item {
	lines := embedded(itemLines)
	all := make([]item, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &all[i]); err != nil {
			panic(fmt.Sprintf("sample: data/items.jsonl line %d: %v", i+1, err)) // embedded, and tested
		}
	}
	return all
}

// shelf draws items as buyers do: a few sell well, most sell now and then.
type shelf struct {
	items []item
	upTo  []int // running total of the weights
}

func newShelf(rng *rand.Rand) shelf {
	s := shelf{items: items()}
	total := 0
	for _, rank := range rng.Perm(len(s.items)) {
		total += 10_000 / (rank + 4)
		s.upTo = append(s.upTo, total)
	}
	return s
}

func (s shelf) draw(rng *rand.Rand) item {
	n := rng.IntN(s.upTo[len(s.upTo)-1])
	for i, end := range s.upTo {
		if n < end {
			return s.items[i]
		}
	}
	panic("sample: a draw beyond the last item") // IntN is below the last running total
}
