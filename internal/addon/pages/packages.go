package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// packageForm is what the form of a package shows, as it was typed.
type packageForm struct {
	id, name, rank string
	free           bool
	// old reports that the package exists: its id stays.
	old  bool
	errs frame.Errors
}

// packageOf reads the form; id is that of a package that exists, 0 for a new one.
func packageOf(in url.Values, id int64) packageForm {
	f := packageForm{id: strings.TrimSpace(in.Get("id")), name: in.Get("name"), rank: strings.TrimSpace(in.Get("rank")), free: in.Get("free") == "1"}
	if id != 0 {
		f.id, f.old = strconv.FormatInt(id, 10), true
	}
	return f
}

// parse reads the package that was typed, and says at its field what is wrong.
func (f packageForm) parse() (p iap.Package, wrong frame.Errors) {
	p = iap.Package{Name: f.name, Paid: !f.free}
	var err error
	if p.ID, err = strconv.ParseInt(f.id, 10, 64); err != nil {
		wrong = append(wrong, frame.FieldError{Name: "id", Text: "Type a whole number, like 3."})
	}
	if strings.TrimSpace(f.name) == "" {
		wrong = append(wrong, frame.FieldError{Name: "name", Text: "Type the name that members see."})
	}
	if f.rank == "" {
		return p, wrong
	}
	if p.Rank, err = strconv.ParseInt(f.rank, 10, 64); err != nil {
		wrong = append(wrong, frame.FieldError{Name: "rank", Text: "Type a whole number, like 10."})
	}
	return p, wrong
}

func (f packageForm) path() string {
	if f.old {
		return pathPackages + "/" + f.id
	}
	return pathPackages
}

func (p *Pages) packagePage(f packageForm) frame.Page {
	page := frame.Page{Title: "New package", Crumbs: crumbs(packagesCrumb), Body: packageView(f)}
	if f.old {
		page.Title = "Edit package " + f.id
	}
	return page
}

var packagesCrumb = frame.Link{Label: "Packages", Path: pathPackages}

func (p *Pages) showPackages(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.addon.IAP.Packages(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	uses, err := p.addon.IAP.PackageUses(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	products, err := p.addon.IAP.Products(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	page := frame.Page{
		Title: "Packages", Crumbs: crumbs(), Body: packagesView(packageList{all, uses, products}),
		Lead: "The memberships of your site. An in-app purchase activates one of them.",
	}
	if len(all) > 0 {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "New package", Path: pathPackages + "/new", Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) showNewPackage(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.addon.IAP.Packages(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	f := packageForm{id: "1"}
	if len(all) > 0 {
		f.id = strconv.FormatInt(all[len(all)-1].ID+1, 10)
	}
	return p.frame.Show(w, r, p.packagePage(f))
}

func (p *Pages) addPackage(w http.ResponseWriter, r *frame.Request) error {
	return p.submitPackage(w, r, 0, p.addon.IAP.AddPackage, "was added.")
}

// submitPackage answers the form of a package: of the one with this id, or of a new
// one when it is 0.
func (p *Pages) submitPackage(w http.ResponseWriter, r *frame.Request, id int64, save func(context.Context, people.Actor, iap.Package) error, done string) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"id", "name", "rank"},
		About:  map[string]string{"package_exists": "id"},
		Check: func(in url.Values) frame.Errors {
			_, wrong := packageOf(in, id).parse()
			return wrong
		},
		Rules: []frame.Rule{func(in url.Values) error {
			pkg, _ := packageOf(in, id).parse()
			return iap.CheckPackage(pkg)
		}},
		Do: func(in url.Values) error {
			pkg, _ := packageOf(in, id).parse()
			if err := save(r.Context(), r.Actor, pkg); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathPackages, "The package “"+strings.TrimSpace(pkg.Name)+"” "+done)
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			f := packageOf(in, id)
			f.errs = wrong
			return p.packagePage(f), nil
		},
	})
}

// onePackage finds the package that the address names.
func (p *Pages) onePackage(r *frame.Request) (iap.Package, error) {
	id, err := number(r, "id")
	if err != nil {
		return iap.Package{}, err
	}
	all, err := p.addon.IAP.Packages(r.Context(), r.Actor)
	if err != nil {
		return iap.Package{}, err
	}
	i := slices.IndexFunc(all, func(one iap.Package) bool { return one.ID == id })
	if i < 0 {
		return iap.Package{}, fault.NotFound("package_not_found", "No package "+strconv.FormatInt(id, 10)+". It may have been removed; the list of packages shows the others")
	}
	return all[i], nil
}

func (p *Pages) showPackage(w http.ResponseWriter, r *frame.Request, one iap.Package) error {
	return p.frame.Show(w, r, p.packagePage(packageForm{
		id: strconv.FormatInt(one.ID, 10), name: one.Name, rank: strconv.FormatInt(one.Rank, 10), free: !one.Paid, old: true,
	}))
}

func (p *Pages) updatePackage(w http.ResponseWriter, r *frame.Request, one iap.Package) error {
	return p.submitPackage(w, r, one.ID, p.addon.IAP.UpdatePackage, "was saved. Apps see it at once.")
}

// removePackage asks before a package is removed. It offers that only for one that no
// product is mapped to.
func (p *Pages) removePackage(w http.ResponseWriter, r *frame.Request, one iap.Package) error {
	id := strconv.FormatInt(one.ID, 10)
	if r.Method != http.MethodPost {
		uses, err := p.addon.IAP.PackageUses(r.Context(), r.Actor)
		if err != nil {
			return err
		}
		if uses[one.ID].Blocks() {
			return p.frame.Warn(w, r, pathPackages, "The package “"+one.Name+"” can't be removed yet. The list shows the products that are mapped to it.")
		}
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove the package " + one.Name, Crumbs: crumbs(packagesCrumb),
		Consequence: "The package “" + one.Name + "” (ID " + id + ") is removed from the list at once.",
		Path:        pathPackages + "/" + id + "/remove", Label: "Remove the package", Cancel: pathPackages,
		Form: frame.Form{Do: func(url.Values) error {
			if err := p.addon.IAP.RemovePackage(r.Context(), r.Actor, one.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathPackages, "The package “"+one.Name+"” was removed.")
		}},
	})
}

// packageList is what the list of packages shows.
type packageList struct {
	all  []iap.Package
	uses map[int64]iap.PackageUse
	// products is the draft's map, in the order of its form.
	products []iap.Product
}

// rows is the table of packages.
func (l packageList) rows() (rows []frame.Row) {
	for _, one := range l.all {
		id := strconv.FormatInt(one.ID, 10)
		path := pathPackages + "/" + id
		actions := []templ.Component{frame.LinkButton{Link: frame.Link{Label: "Edit", Path: path}, Context: packageLabel(id, l.all)}}
		if !l.uses[one.ID].Blocks() {
			actions = append(actions, frame.LinkButton{Link: frame.Link{Label: "Remove", Path: path + "/remove"}, Kind: frame.Danger, Context: packageLabel(id, l.all)})
		}
		rows = append(rows, frame.Row{
			frame.Link{Label: one.Name, Path: path}, frame.Words(id), priceBadge(one), l.productsOf(one), frame.Words(strconv.FormatInt(one.Rank, 10)), frame.Group(actions...),
		})
	}
	return rows
}

// anyBlocked reports whether there is a package that can't be removed.
func (l packageList) anyBlocked() bool {
	return slices.ContainsFunc(l.all, func(one iap.Package) bool { return l.uses[one.ID].Blocks() })
}

func priceBadge(one iap.Package) templ.Component {
	if one.Paid {
		return frame.Badge{Text: "Paid", Kind: frame.Note}
	}
	return frame.Badge{Text: "Free"}
}

// productsOf lists the store products that are mapped to a package, each with the way to
// where that ends: its row of the form, or the publish of a draft without it.
func (l packageList) productsOf(one iap.Package) templ.Component {
	use := l.uses[one.ID]
	var parts []templ.Component
	for i, product := range l.products {
		if product.PackageID == one.ID {
			parts = append(parts, frame.Link{Label: product.StoreID, Path: pathIAP + "#" + frame.FieldID(productName(i))})
		}
	}
	for _, id := range use.Published {
		if !slices.Contains(use.Draft, id) {
			parts = append(parts, frame.Link{Label: id + " (until you publish)", Path: pathIAP + "/publish"})
		}
	}
	switch {
	case len(parts) > 0:
		return frame.Stack(parts...)
	case one.Paid:
		return frame.Badge{Text: "None yet", Kind: frame.Warning}
	}
	return frame.Muted("not needed")
}
