package pages

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

// PathDownload is the beginning of the paths at which buyers download files; a token follows.
const PathDownload = "/download/"

// linkTimes are for how long a download link can be valid, in days.
var linkTimes = []frame.Choice{{Value: "1", Label: "1 day"}, {Value: "7", Label: "7 days"}, {Value: "30", Label: "30 days"}, {Value: "90", Label: "90 days"}}

// createDownloadLink asks for how long a link is to be valid, and shows it in its response: it
// is at no address.
func (p *Pages) createDownloadLink(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
	path := purchasePath(ws, c.Purchase.ID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Create a download link", Crumbs: purchaseCrumbs(ws, c), Failed: "No link was created.", Safe: true,
		Consequence: "Anybody with the link can download the file of this item. The purchase then counts as downloaded.",
		Path:        path + "/download-link", Label: "Create the link", Cancel: path,
		Fields: []frame.Field{{Name: "days", Label: "Valid for", Kind: frame.Select, Value: "7", Choices: linkTimes}},
		Form: frame.Form{Fields: []string{"days"}, Do: func(in url.Values) error {
			days, err := strconv.ParseUint(in.Get("days"), 10, 8)
			if err != nil {
				return wrongField("days", "Choose for how long the link is valid.")
			}
			token, l, err := p.store.Media.CreateLink(r.Context(), r.Actor, c.Purchase.ID, time.Duration(days)*24*time.Hour)
			if fault.HasCode(err, "item_no_file") {
				return wrongField("days", fault.Message(err)+". Upload it on the page of the item's files.")
			}
			if err != nil {
				return err
			}
			return p.frame.Show(w, r, frame.Page{
				Title: "Download link", Crumbs: purchaseCrumbs(ws, c), Body: downloadLinkView(path, l, p.frame.Address(w, r, PathDownload+token)),
				Lead: "The server sends no e-mail. Send the link to the buyer yourself.",
			})
		}},
	})
}

// deadLink says why a download link does not lead to a file.
type deadLink struct {
	status      int
	title, text string
}

var deadLinks = map[string]deadLink{
	media.ErrLinkUnknown.Code: {http.StatusForbidden, "The link is not valid", "It may have been copied in part. Copy all of it, or ask the seller for a new one."},
	media.ErrLinkExpired.Code: {http.StatusGone, "The link has expired", "Ask the seller for a new one."},
	media.ErrLinkEnded.Code:   {http.StatusForbidden, "The link no longer works", "The purchase was refunded or revoked. Ask the seller if you think that this is a mistake."},
	media.ErrNoFile.Code:      {http.StatusGone, "The file was removed", "Ask the seller for it."},
}

// download sends a buyer the file to which a link leads.
func (p *Pages) download(w http.ResponseWriter, r *frame.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	err := p.sendFile(w, r, r.PathValue("token"))
	if refused := fault.Of(err); refused != nil {
		if dead, ok := deadLinks[refused.Code]; ok {
			return p.frame.Refuse(w, r, frame.Page{Status: dead.status, Title: dead.title, Lead: dead.text, Bare: true, Body: frame.Words("")}, err)
		}
	}
	return err
}

// sendFile sends the file of a download link. The purchase counts as downloaded when some of the file is sent: not by a
// program that only looks where the link leads, nor by one that has the file already.
func (p *Pages) sendFile(w http.ResponseWriter, r *frame.Request, token string) error {
	m, content, err := p.store.Media.Download(r.Context(), token)
	if err != nil {
		return err
	}
	defer content.Close()
	h := w.Header()
	h.Set("Content-Type", m.Type)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.Title}))
	h.Set("ETag", `"`+m.Digest+`"`)
	return web.ServeDownload(w, r.Request, m.CreatedAt.Time, content, func() error {
		return p.store.Media.MarkDownloaded(r.Context(), buyer(r), token)
	})
}
