package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// packageForm is what the form of a package shows, as it was typed.
type packageForm struct {
	id, name, rank string
	free           bool
	// old tells that the package exists: its id stays.
	old  bool
	errs frame.Errors
}

func packageOf(in url.Values) packageForm {
	return packageForm{id: strings.TrimSpace(in.Get("id")), name: in.Get("name"), rank: strings.TrimSpace(in.Get("rank")), free: in.Get("free") == "1"}
}

// typed is the package that was typed. What is no number is said at its field.
func (f *packageForm) typed() (iap.Package, bool) {
	p := iap.Package{Name: f.name, Paid: !f.free}
	var err error
	if p.ID, err = strconv.ParseInt(f.id, 10, 64); err != nil {
		f.errs = append(f.errs, frame.FieldError{Name: "id", Text: "Type a whole number, like 3."})
	}
	if strings.TrimSpace(f.name) == "" {
		f.errs = append(f.errs, frame.FieldError{Name: "name", Text: "Type the name that members see."})
	}
	if f.rank == "" {
		return p, len(f.errs) == 0
	}
	if p.Rank, err = strconv.ParseInt(f.rank, 10, 64); err != nil {
		f.errs = append(f.errs, frame.FieldError{Name: "rank", Text: "Type a whole number, like 10."})
	}
	return p, len(f.errs) == 0
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
	products, err := p.addon.IAP.Products(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	page := frame.Page{
		Title: "Packages", Crumbs: crumbs(), Body: packagesView(all, products),
		Lead: "The memberships of your site. A purchase in the app activates one of them.",
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
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	f := packageOf(in)
	pkg, ok := f.typed()
	if !ok {
		return p.refuse(w, r, p.packagePage(f), nil)
	}
	if err := p.addon.IAP.AddPackage(r.Context(), r.Actor, pkg); err != nil {
		return p.refusePackage(w, r, f, err)
	}
	return p.frame.Redirect(w, r, pathPackages, "The package “"+strings.TrimSpace(pkg.Name)+"” was added.")
}

// refusePackage shows the form again. A taken id is said at its field.
func (p *Pages) refusePackage(w http.ResponseWriter, r *frame.Request, f packageForm, err error) error {
	if fault.HasCode(err, "package_not_found") {
		return err
	}
	errs, ok := frame.FormErrors(err, "id", "name", "rank")
	if !ok {
		return err
	}
	if fault.HasCode(err, "package_exists") {
		errs[0].Name = "id"
	}
	f.errs = errs
	return p.refuse(w, r, p.packagePage(f), err)
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

func (p *Pages) showPackage(w http.ResponseWriter, r *frame.Request) error {
	one, err := p.onePackage(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.packagePage(packageForm{
		id: strconv.FormatInt(one.ID, 10), name: one.Name, rank: strconv.FormatInt(one.Rank, 10), free: !one.Paid, old: true,
	}))
}

func (p *Pages) updatePackage(w http.ResponseWriter, r *frame.Request) error {
	id, err := number(r, "id")
	if err != nil {
		return err
	}
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	f := packageOf(in)
	f.id, f.old = strconv.FormatInt(id, 10), true
	pkg, ok := f.typed()
	if !ok {
		return p.refuse(w, r, p.packagePage(f), nil)
	}
	if err := p.addon.IAP.UpdatePackage(r.Context(), r.Actor, pkg); err != nil {
		return p.refusePackage(w, r, f, err)
	}
	return p.frame.Redirect(w, r, pathPackages, "The package “"+strings.TrimSpace(pkg.Name)+"” was saved. Apps see it at once.")
}

func (p *Pages) removePackagePage(one iap.Package, errs frame.Errors) frame.Page {
	path := pathPackages + "/" + strconv.FormatInt(one.ID, 10)
	return frame.Page{Title: "Remove the package " + one.Name, Crumbs: crumbs(packagesCrumb), Body: frame.Confirm{
		Consequence: "The package “" + one.Name + "” (ID " + strconv.FormatInt(one.ID, 10) + ") is taken off the list at once. A product of the store that gives it has to be removed from the product map first.",
		Path:        path + "/remove", Label: "Remove the package", Cancel: pathPackages, Errors: errs,
	}}
}

func (p *Pages) showRemovePackage(w http.ResponseWriter, r *frame.Request) error {
	one, err := p.onePackage(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.removePackagePage(one, nil))
}

func (p *Pages) removePackage(w http.ResponseWriter, r *frame.Request) error {
	one, err := p.onePackage(r)
	if err != nil {
		return err
	}
	err = p.addon.IAP.RemovePackage(r.Context(), r.Actor, one.ID)
	if fault.HasCode(err, "package_in_use") {
		errs, _ := frame.FormErrors(err)
		return p.refuse(w, r, p.removePackagePage(one, errs), err)
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathPackages, "The package “"+one.Name+"” was removed.")
}

// packageRows is the table of packages.
func packageRows(all []iap.Package, products []iap.Product) (rows []frame.Row) {
	for _, one := range all {
		id := strconv.FormatInt(one.ID, 10)
		path := pathPackages + "/" + id
		rows = append(rows, frame.Row{
			frame.Link{Label: one.Name, Path: path}, frame.Words(id), priceBadge(one), productsOf(one, products), frame.Words(strconv.FormatInt(one.Rank, 10)),
			frame.Group(frame.LinkButton{Link: frame.Link{Label: "Edit", Path: path}, Context: packageLabel(id, all)}, frame.LinkButton{Link: frame.Link{Label: "Remove", Path: path + "/remove"}, Context: packageLabel(id, all)}),
		})
	}
	return rows
}

func priceBadge(one iap.Package) templ.Component {
	if one.Paid {
		return frame.Badge{Text: "Paid", Kind: frame.Note}
	}
	return frame.Badge{Text: "Free"}
}

// productsOf lists the store products that give a package, in the draft.
func productsOf(one iap.Package, products []iap.Product) templ.Component {
	var parts []templ.Component
	for _, product := range products {
		if product.PackageID == one.ID {
			parts = append(parts, frame.Mono(product.StoreID))
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
