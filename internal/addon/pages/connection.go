package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/play"
)

// connection is what the page of the connection to the store shows.
type connection struct {
	checks []play.Check
	lines  []membership.CatalogueLine
	// compared reports that the catalogue was read.
	compared bool
	arrivals []health.Finding
	errs     frame.Errors
}

func connectionPage(c connection) frame.Page {
	return frame.Page{
		Title: "Connection to the store", Crumbs: crumbs(iapForm.crumb()), Body: connectionView(c),
		Lead: "Whether this server may ask the store about purchases, and whether the store sells what you mapped. The published settings are used, and nothing is changed.",
	}
}

func (p *Pages) showConnection(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.newConnection(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, connectionPage(c))
}

// newConnection is the page before the store is asked.
func (p *Pages) newConnection(r *frame.Request) (c connection, err error) {
	c.arrivals, err = p.addon.Members.CheckArrivals(r.Context(), r.Actor)
	return c, err
}

// testConnection asks the store, and shows what came back.
func (p *Pages) testConnection(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.newConnection(r)
	if err != nil {
		return err
	}
	return p.frame.Submit(w, r, frame.Form{
		Do: func(in url.Values) (err error) {
			if in.Get("do") == "products" {
				c.lines, err = p.addon.Members.CheckCatalogue(r.Context(), r.Actor)
				c.compared = err == nil
			} else {
				c.checks, err = p.addon.Members.CheckStore(r.Context(), r.Actor)
			}
			if err != nil {
				return err
			}
			return p.frame.Show(w, r, connectionPage(c))
		},
		Explain: storeErrors,
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			c.errs = wrong
			return connectionPage(c), nil
		},
	})
}

// storeErrors explains why the store was not asked, or did not answer.
func storeErrors(refused error) (frame.Errors, bool) {
	for _, code := range []string{"not_configured", "store_unavailable", "store_not_authorised"} {
		if fault.HasCode(refused, code) {
			return frame.Errors{{Text: frame.Sentence(fault.Of(refused).Message)}}, true
		}
	}
	return frame.FormErrors(refused)
}

// checkTitles are what the parts of a connection test are called.
var checkTitles = map[string]string{
	play.CheckKey: "Key of the service account", play.CheckToken: "Access token from Google",
	play.CheckAPI:     "Google Play Android Developer API",
	play.CheckPackage: "Permission to read purchases of the app", play.CheckVoided: "Permission to read refunds and orders",
	play.CheckProducts: "Permission to read the products",
}

// checkList shows the parts of a connection test.
func checkList(checks []play.Check) (list frame.Checklist) {
	for _, c := range checks {
		one := frame.Check{Kind: frame.Good, Title: checkTitles[c.Name], Text: c.Problem}
		if !c.OK {
			one.Kind = frame.Danger
		}
		list = append(list, one)
	}
	return list
}

// catalogueRows is the table of products and packages.
func catalogueRows(lines []membership.CatalogueLine) (rows []frame.Row) {
	for _, l := range lines {
		product, activates, state := templ.Component(frame.Muted("–")), templ.Component(frame.Muted("–")), templ.Component(frame.Badge{Text: "Matches", Kind: frame.Good})
		if l.Product != "" {
			product = frame.Mono(l.Product)
		}
		if l.Package != 0 {
			activates = frame.Words(l.PackageName + " (" + strconv.FormatInt(l.Package, 10) + ")")
		}
		if l.Problem != "" {
			state = frame.Stack(frame.Badge{Text: "Problem", Kind: frame.Warning}, frame.Words(frame.Sentence(l.Problem)))
		}
		rows = append(rows, frame.Row{product, activates, state})
	}
	return rows
}
