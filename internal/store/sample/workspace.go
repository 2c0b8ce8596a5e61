package sample

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign/countersign"
)

// ForWorkspace is the shop as the data of one workspace of somebody's own.
type ForWorkspace struct {
	Username string
	// Currency is that of its prices.
	Currency string
	// FirstItem is the id of the first item; the others follow it.
	FirstItem int64
	// Until is when the story ends.
	Until time.Time
	// NewCode makes a purchase code. The shop's own are public.
	NewCode func() string
}

// ItemCount is how many items there are.
func ItemCount() int { return len(embedded(itemLines)) }

// Reader returns items and purchases as JSON Lines, like [Reader].
func (o ForWorkspace) Reader() io.ReadSeeker {
	items := decoded[item](itemLines)
	later := Options{Until: o.Until}.later()
	ids := map[int64]int64{}
	var lines []string
	for i, it := range items {
		ids[it.ID] = o.FirstItem + int64(i)
		it.ID, it.Workspace, it.Currency = ids[it.ID], o.Username, o.Currency
		lines = append(lines, it.moved(later).line())
	}
	for _, p := range purchases() {
		p.ItemID, p.Workspace, p.Currency, p.Code = ids[p.ItemID], o.Username, o.Currency, o.NewCode()
		lines = append(lines, p.moved(later).line())
	}
	return &lineReader{count: len(lines), line: func(i int) string { return lines[i] }}
}

// lineOf writes a line of the import format.
func lineOf(v any) string {
	text, err := countersign.EncodeJSON(v)
	if err != nil {
		panic(fmt.Sprintf("sample: %v", err)) // dates of our own always have a JSON form
	}
	return string(text)
}
