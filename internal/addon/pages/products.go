package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/frame"
)

// maxRows is how many rows of products a form is read for; the rule allows fewer.
const maxRows = 2000

// productRow is a line of the product map as it stands in the form.
type productRow struct{ product, pkg string }

func (r productRow) empty() bool { return r.product == "" && r.pkg == "" }

// savedRows are the rows of a draft that is saved.
func savedRows(s settings.Draft) (rows []productRow) {
	one, _ := s.Get(iap.KeyProductMap)
	list, _ := iap.ParseProducts(one.Value) // what is saved was checked
	for _, p := range list {
		rows = append(rows, productRow{p.StoreID, strconv.FormatInt(p.PackageID, 10)})
	}
	return rows
}

// typedRows are the rows of a posted form, without the empty ones.
func typedRows(in url.Values) (rows []productRow) {
	for i := range maxRows {
		if !in.Has(productName(i)) {
			break
		}
		row := productRow{strings.TrimSpace(in.Get(productName(i))), in.Get(packageName(i))}
		if !row.empty() {
			rows = append(rows, row)
		}
	}
	return rows
}

func productName(i int) string { return "product." + strconv.Itoa(i) }
func packageName(i int) string { return "package." + strconv.Itoa(i) }

func isRemove(button string) bool { return strings.HasPrefix(button, "remove:") }

// removedRow is the row whose button was pressed.
func removedRow(button string, rows int) (int, bool) {
	text, there := strings.CutPrefix(button, "remove:")
	n, err := strconv.Atoi(text)
	return n, there && err == nil && n >= 0 && n < rows
}

// halfRows finds rows in which one of the two answers is missing.
func halfRows(rows []productRow) (errs frame.Errors) {
	for i, row := range rows {
		switch {
		case row.product == "":
			errs = append(errs, frame.FieldError{Name: productName(i), Text: "Type the product ID, or remove the row."})
		case row.pkg == "":
			errs = append(errs, frame.FieldError{Name: packageName(i), Text: "Choose the package that " + row.product + " activates."})
		}
	}
	return errs
}

// mapOf writes rows as a product map (spec 2.6), as they are: what is wrong with
// them is for the rule to say.
func mapOf(rows []productRow) string {
	text := []byte(`{"store":{`)
	for i, row := range rows {
		if i > 0 {
			text = append(text, ',')
		}
		text, _ = countersign.AppendJSON(text, row.product) // a string always can be
		text = append(text, ':')
		if n, err := strconv.ParseInt(row.pkg, 10, 64); err == nil {
			text = strconv.AppendInt(text, n, 10)
		} else {
			text, _ = countersign.AppendJSON(text, row.pkg)
		}
	}
	return string(append(text, "}}"...))
}

// wrongRow is the field of the first row that is wrong by itself, that repeats a
// product, or whose package does not exist.
func wrongRow(rows []productRow, packages []iap.Package) string {
	seen := map[string]bool{}
	for i, row := range rows {
		if _, err := iap.ParseProducts(mapOf(rows[i : i+1])); err != nil || seen[row.product] {
			return productName(i)
		}
		seen[row.product] = true
	}
	for i, row := range rows {
		if packageLabel(row.pkg, packages) == "" {
			return packageName(i)
		}
	}
	return productName(0)
}

// packageLabel names a package, "" when there is none with this id.
func packageLabel(id string, packages []iap.Package) string {
	for _, p := range packages {
		if strconv.FormatInt(p.ID, 10) == id {
			return p.Name + " (" + id + ")"
		}
	}
	return ""
}

// packageChoices are the packages to choose from, and the chosen one when it does
// not exist any more.
func packageChoices(chosen string, packages []iap.Package) []frame.Choice {
	list := []frame.Choice{{Label: "Choose…"}}
	for _, p := range packages {
		id := strconv.FormatInt(p.ID, 10)
		list = append(list, frame.Choice{Value: id, Label: packageLabel(id, packages)})
	}
	if chosen != "" && packageLabel(chosen, packages) == "" {
		list = append(list, frame.Choice{Value: chosen, Label: "Package " + chosen + " (removed)"})
	}
	return list
}

func (p *Pages) productsPage(d draft) frame.Page {
	s, _ := d.saved.Get(iap.KeyProductMap)
	text, there := d.entered[iap.KeyProductMap]
	if !there {
		text = frame.Indented([]byte(s.Value))
	}
	return frame.Page{
		Title: "Products as JSON", Crumbs: crumbs(iapForm.crumb()), Body: productsView(d, cmp.Or(text, s.Value)),
		Lead: "The whole product map as JSON, for example to paste it.",
	}
}

func (p *Pages) showProducts(w http.ResponseWriter, r *frame.Request) error {
	d, err := p.readDraft(r, iapForm)
	if err != nil {
		return err
	}
	d.path = pathProducts
	return p.frame.Show(w, r, p.productsPage(d))
}

func (p *Pages) saveProducts(w http.ResponseWriter, r *frame.Request) error {
	d := draft{form: iapForm}
	d.path = pathProducts
	return p.frame.Submit(w, r, frame.Form{
		Do: func(in url.Values) error {
			if err := p.set(r, &d, in, func() { d.take(in, iap.KeyProductMap) }); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathIAP+"#"+groupID("Products"), saidSaved(d.saved))
		},
		Explain: p.explainDraft(r, &d),
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			d.errs = wrong
			return p.productsPage(d), nil
		},
	})
}

func removeButton(i int) string { return "remove:" + strconv.Itoa(i) }
