package pages

import (
	"encoding/csv"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/countersign/countersign/internal/store"
)

// itemColumns are the columns of the list as CSV, which an import reads.
var itemColumns = []string{
	"id", "kind", "support", "name", "description", "category", "sub_category", "options", "version", "demo_link", "tags",
	"thumbnail", "preview_image", "preview_video", "preview_audio", "screenshots", "regular", "extended", "currency", "published_at",
}

// exportItems sends the list with its filter, or the chosen items, as CSV.
func (p *Pages) exportItems(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	q := r.URL.Query()
	filter, wrong := readItemFilter(q, p.frame.Now())
	if wrong != nil {
		return wrongField(wrong[0].Name, wrong[0].Text)
	}
	filter.After = 0
	if q.Has("chosen") { // of the form of the list, whose fields are not a filter
		if filter = (store.ItemFilter{IDs: chosenIDs(q)}); len(filter.IDs) == 0 {
			return fault.Invalid("items_chosen", "Choose at least one item.")
		}
	}
	return p.frame.Send(w, r, "text/csv; charset=utf-8", "items.csv", func(out io.Writer) error {
		rows := csv.NewWriter(out)
		if err := rows.Write(itemColumns); err != nil {
			return err
		}
		err := p.store.EachItem(r.Context(), r.Actor, ws.Account.Username, filter, func(i store.Item) error {
			cells := itemCells(i)
			for n, cell := range cells {
				cells[n] = spreadsheet.Cell(cell)
			}
			return rows.Write(cells)
		})
		rows.Flush()
		if err == nil {
			err = rows.Error()
		}
		return err
	})
}

// itemCells are the values of itemColumns.
func itemCells(i store.Item) []string {
	link := func(address *string) string {
		if address == nil {
			return ""
		}
		return *address
	}
	return []string{
		strconv.FormatInt(i.ID, 10), string(i.Kind), supportValue(i.Support), i.Name, i.Description, i.Category, i.SubCategory, listCell(i.Options),
		string(i.Version), i.DemoLink, listCell(i.Tags), i.Media.Thumbnail, link(i.Media.PreviewImage), link(i.Media.PreviewVideo),
		link(i.Media.PreviewAudio), listCell(i.Media.Screenshots), i.Price.Regular.String(), i.Price.Extended.String(), i.Currency, i.PublishedAt.String(),
	}
}

// listCell is a list as an import reads it from one cell.
func listCell(all []string) string {
	text := strings.Join(all, "|")
	if len(all) == 1 && strings.Contains(text, ",") {
		text += "|"
	}
	return text
}
