package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store/licensing"
)

// moveLicense asks whether a license is to move to another domain, and moves it once its buyer is sure.
func (p *Pages) moveLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.submitOrder(w, r, func(in url.Values, o order) error {
		from := strings.TrimSpace(in.Get("from"))
		if in.Get("sure") == "" {
			cost, err := p.store.Licensing.MoveCost(r.Context(), buyer(r), from, o.request())
			if err != nil {
				return err
			}
			if !cost.Free {
				return p.frame.Show(w, r, movePage(o, from, cost))
			}
		}
		files, err := p.store.Licensing.MoveAll(r.Context(), buyer(r), p.baseURL, from, o.request())
		if err != nil {
			return err
		}
		return p.showFiles(w, r, o.code, files)
	})
}

func movePage(o order, from string, cost licensing.MoveCost) frame.Page {
	title := "Move the license to " + o.domain
	if from != "" {
		title = "Move the license of " + from + " to " + o.domain
	}
	return frame.Page{Title: title, Bare: true, Wide: true, Body: moveView(o, from, cost)}
}

// costText says what a move costs, what is left, and what is not possible until the next one.
func costText(cost licensing.MoveCost, until string) string {
	if cost.Free {
		return "This uses none of the moves that the seller allows in a year."
	}
	text := "This uses one of the " + strconv.Itoa(cost.MovesAYear) + " moves that the seller allows in a year. "
	if cost.MovesAYear == 1 {
		text = "This uses the one move that the seller allows in a year. "
	}
	switch cost.Left {
	case 0:
		text += "None is left after it."
	case 1:
		text += "One is left after it."
	default:
		text += fmt.Sprintf("%d are left after it.", cost.Left)
	}
	if hours := int(cost.Wait / time.Hour); hours > 0 && cost.Left > 0 {
		text += " The next one is possible " + frame.Count(hours, "hour") + " later. Until then, " + until + "."
	}
	return text
}
