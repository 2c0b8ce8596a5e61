package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
)

func uploadPath(ws store.WorkspaceRole, id int64, below string) string {
	return workspacePath(ws.Account.Username, "/uploads/"+strconv.FormatInt(id, 10)+below)
}

// columnsForm is the page on which the columns of an upload get their fields.
type columnsForm struct {
	ws store.WorkspaceRole
	transfer.Preview
	items itemNames
	// in is the form as it was posted, nil before.
	in      url.Values
	skipBad bool
	errs    frame.Errors
}

// tryDry is what the button for a dry run sends.
const tryDry = "dry_run"

func (p *Pages) showUpload(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	preview, err := p.preview(r, r.URL.Query())
	if err != nil {
		return err
	}
	items, err := p.itemNames(r, ws)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, columnsPage(columnsForm{ws: ws, Preview: preview, items: items, skipBad: preview.SkipBad || !preview.DryRun}))
}

// preview reads the upload that the address names, as a form or a link says.
func (p *Pages) preview(r *frame.Request, in url.Values) (transfer.Preview, error) {
	as := transfer.Rows(in.Get("rows"))
	if as != transfer.RowsItems && as != transfer.RowsPurchases {
		as = ""
	}
	return p.store.Transfer.Preview(r.Context(), r.Actor, idOf(r.PathValue("upload")), as, in.Get("encoding"))
}

func columnsPage(f columnsForm) frame.Page {
	return frame.Page{Title: "Import " + f.File, Crumbs: importsCrumbs(f.ws), Body: columnsView(f)}
}

// confirmUpload has an upload tried or imported as the form says.
func (p *Pages) confirmUpload(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	preview, err := p.preview(r, in)
	if err != nil {
		return err
	}
	items, err := p.itemNames(r, ws)
	if err != nil {
		return err
	}
	f := columnsForm{ws: ws, Preview: preview, items: items, in: in, skipBad: in.Get("skip_bad") != ""}
	return p.frame.Submit(w, r, frame.Form{
		Check: func(url.Values) frame.Errors { return f.check() },
		Do: func(in url.Values) error {
			how := transfer.NewImport{DryRun: in.Get("do") == tryDry, SkipBad: f.skipBad, CSV: f.options()}
			job, err := p.store.Transfer.Confirm(r.Context(), r.Actor, f.ID, how)
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, importPath(ws, job, ""), "")
		},
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			f.errs = wrong
			return columnsPage(f), nil
		},
	})
}

// runImport imports the file of a dry run.
func (p *Pages) runImport(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	job, err := p.store.Transfer.ConfirmDryRun(r.Context(), r.Actor, idOf(r.PathValue("job")))
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, importPath(ws, job, ""), "")
}

func (p *Pages) discardUpload(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.Transfer.Discard(r.Context(), r.Actor, idOf(r.PathValue("upload"))); err != nil {
		return err
	}
	return p.frame.Redirect(w, r, importsPath(ws, ""), "The file was discarded.")
}

const columnPrefix = "column."

func columnName(n int) string { return columnPrefix + strconv.Itoa(n) }

// field is what a column is to be read as.
func (f columnsForm) field(n int) string {
	if f.in != nil {
		return f.in.Get(columnName(n))
	}
	return f.CSV.Columns[n].Field
}

// check finds what the service can't know: which column of the form is meant.
func (f columnsForm) check() (wrong frame.Errors) {
	if f.CSV == nil {
		return nil
	}
	named, found := map[string]string{}, false
	for n, c := range f.CSV.Columns {
		field := f.field(n)
		found = found || field == f.CSV.Required[0]
		if before, twice := named[c.Name]; twice && before != field {
			wrong = append(wrong, frame.FieldError{Name: columnName(n), Text: "Another column has this name, too. Rename one of them in the file, or ignore both."})
		}
		named[c.Name] = field
		if field != "" && !slices.Contains(f.CSV.Fields, field) {
			wrong = append(wrong, frame.FieldError{Name: columnName(n), Text: "Choose a field from the list."})
		}
	}
	if !found {
		wrong = append(wrong, frame.FieldError{Name: columnName(0), Text: "Choose the column that is the " + fieldName(f.CSV.Required[0]) + "."})
	}
	return wrong
}

// options are what the form says about the columns.
func (f columnsForm) options() (o transfer.CSVOptions) {
	if f.CSV == nil {
		return o
	}
	o.Map, o.Set = map[string]string{}, map[string]string{}
	o.IgnoreStates, o.Split, o.States, o.Items = f.in.Get("ignore_states") != "", f.in.Get("split") != "", map[string]store.State{}, map[string]int64{}
	for _, word := range f.words(fieldState) {
		if state := f.in.Get(stateName(word.Text)); state != "" {
			o.States[word.Text] = store.State(state)
		}
	}
	for _, word := range f.names() {
		if id := idOf(strings.TrimSpace(f.in.Get(itemName(word.Text)))); id != 0 {
			o.Items[word.Text] = id
		}
	}
	o.Encoding, o.Dates, o.Cents = f.NewImport.CSV.Encoding, transfer.DateOrder(f.in.Get("dates")), f.in.Get("amounts") == inCents
	for n, c := range f.CSV.Columns {
		o.Map[c.Name] = f.field(n)
	}
	for _, name := range f.constants() {
		if value := strings.TrimSpace(f.in.Get(setName(name))); value != "" {
			o.Set[name] = value
		}
	}
	return o
}

// isOn is the state of a switch, with the one of the last try.
func (f columnsForm) isOn(name string, last bool) bool {
	if f.in != nil {
		return f.in.Get(name) != ""
	}
	return last
}

// The fields of which the page asks what texts mean.
const (
	fieldState = "state"
	fieldItem  = "item_id"
)

// words are the texts of the columns that are read as a field, each once.
func (f columnsForm) words(field string) (all []transfer.Word) {
	seen := map[string]bool{}
	for n, c := range f.CSV.Columns {
		for _, word := range f.CSV.Words[c.Name] {
			if f.field(n) == field && !seen[word.Text] {
				seen[word.Text] = true
				all = append(all, word)
			}
		}
	}
	return all
}

// names are the texts of the column of the item that are not the ids of items.
func (f columnsForm) names() []transfer.Word {
	return slices.DeleteFunc(f.words(fieldItem), func(w transfer.Word) bool { return w.Text == "" || strconv.FormatInt(w.Item, 10) == w.Text })
}

func stateName(word string) string { return "state." + word }

func itemName(text string) string { return "item." + text }

// state is what a word was said to mean, "" for nothing.
func (f columnsForm) state(w transfer.Word) string {
	if f.in != nil {
		return f.in.Get(stateName(w.Text))
	}
	return string(w.State)
}

// itemOf is the field for the item that a text means.
func (f columnsForm) itemOf(w transfer.Word) frame.Field {
	value := ""
	switch {
	case f.in != nil:
		value = f.in.Get(itemName(w.Text))
	case w.Item != 0:
		value = strconv.FormatInt(w.Item, 10)
	}
	return f.items.field(frame.Field{Name: itemName(w.Text), Label: w.Text, Value: value, Error: f.errs.Of(itemName(w.Text))}, "(choose)")
}

func wordChoices() []frame.Choice {
	return []frame.Choice{
		{Label: "(choose)"}, {Value: string(store.StateActive), Label: "Paid"}, {Value: string(store.StateRefunded), Label: "Refunded"},
		{Value: string(store.StateChargedBack), Label: "Charged back"}, {Value: string(store.StateRevoked), Label: "Revoked"}, {Value: string(transfer.StateSkipped), Label: "Not paid: leave out"},
	}
}

// inCents is the choice of amounts in hundredths.
const inCents = "cents"

// dates is the order of day and month that was chosen.
func (f columnsForm) dates() string {
	if f.in != nil {
		return f.in.Get("dates")
	}
	return string(f.NewImport.CSV.Dates)
}

func dateChoices() []frame.Choice {
	return []frame.Choice{
		{Label: "As the rows show"}, {Value: string(transfer.DatesDayFirst), Label: "Day first (27/04/2026)"}, {Value: string(transfer.DatesMonthFirst), Label: "Month first (04/27/2026)"},
	}
}

// amounts is the unit of amounts that was chosen.
func (f columnsForm) amounts() string {
	if f.in == nil && f.NewImport.CSV.Cents {
		return inCents
	}
	return f.in.Get("amounts")
}

func amountChoices() []frame.Choice {
	return []frame.Choice{{Label: "In units (49.00)"}, {Value: inCents, Label: "In cents (4900)"}}
}

// otherEncoding is the link to the file in another encoding, for one that has no mark.
func (f columnsForm) otherEncoding() frame.Link {
	return frame.Link{Label: "Read the file as " + transfer.EncodingWindows1252, Path: uploadPath(f.ws, f.ID, "?rows="+string(f.CSV.Rows)+"&encoding="+transfer.EncodingWindows1252)}
}

func setName(field string) string { return "set." + field }

// constants are the fields that every row needs and no column has, besides the one that tells rows apart.
func (f columnsForm) constants() []string {
	has := map[string]bool{}
	for n := range f.CSV.Columns {
		has[f.field(n)] = true
	}
	return slices.DeleteFunc(slices.Clone(f.CSV.Required[1:]), func(name string) bool { return has[name] })
}

// constant is the value that all rows have of a field.
func (f columnsForm) constant(name string) string {
	if f.in != nil {
		return f.in.Get(setName(name))
	}
	return cmp.Or(f.NewImport.CSV.Set[name], f.CSV.Set[name])
}

// fieldName is a field as people read it.
func fieldName(name string) string { return strings.ReplaceAll(name, "_", " ") }

func setLabel(name string) string { return strings.ToUpper(name[:1]) + fieldName(name[1:]) }

func (f columnsForm) choices() []frame.Choice {
	all := []frame.Choice{{Label: "(ignore)"}}
	for _, name := range f.CSV.Fields {
		all = append(all, frame.Choice{Value: name, Label: setLabel(name)})
	}
	return all
}

// columnsLead says what the file is, and where the choices come from.
func columnsLead(f columnsForm) string {
	text := fmt.Sprintf("The rows are %s. Separator %s, %s.", f.CSV.Rows, f.CSV.Separator, f.CSV.Encoding)
	if f.CSV.Shop != "" {
		text = "This is an export of " + f.CSV.Shop + ". " + text
	} else {
		text += " Choose what each column is."
	}
	if f.CSV.Remembered {
		text += " The choices are those of the last import with these columns."
	}
	return text
}

func columnLabel(n int, name string) string {
	return cmp.Or(name, fmt.Sprintf("Column %d, without a name", n+1))
}

// hasWrongColumn reports whether something is wrong with the choice of a column.
func (f columnsForm) hasWrongColumn() bool {
	return slices.ContainsFunc(f.errs, func(e frame.FieldError) bool { return strings.HasPrefix(e.Name, columnPrefix) })
}

// isRead reports whether a column matters.
func (f columnsForm) isRead(n int) bool { return f.field(n) != "" }

// columnCounts says how many columns of a known shop are read.
func (f columnsForm) columnCounts() string {
	read := 0
	for n := range f.CSV.Columns {
		if f.isRead(n) {
			read++
		}
	}
	return fmt.Sprintf("Columns: %d are read, %d are ignored", read, len(f.CSV.Columns)-read)
}

// first are the first rows as a table, of a known shop with the columns that are read.
func (f columnsForm) first() frame.Table {
	t := frame.Table{Caption: "The first rows", Empty: frame.Empty{Icon: "upload", Title: "No rows", Text: "The file has only the names of its columns."}}
	for n, c := range f.CSV.Columns {
		if f.CSV.Shop == "" || f.isRead(n) {
			t.Columns = append(t.Columns, frame.Column{Label: columnLabel(n, c.Name)})
		}
	}
	for _, cells := range f.CSV.First {
		var row frame.Row
		for n, cell := range cells {
			if f.CSV.Shop == "" || f.isRead(n) {
				row = append(row, frame.Words(cmp.Or(shortened(cell), "–")))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// maxCell is how many characters of a cell a preview has.
const maxCell = 60

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return text
}

// others is the link to the other kind of rows.
func (f columnsForm) others() frame.Link {
	other := transfer.RowsItems
	if f.CSV.Rows == transfer.RowsItems {
		other = transfer.RowsPurchases
	}
	return frame.Link{Label: "Read the rows as " + string(other), Path: uploadPath(f.ws, f.ID, "?rows="+string(other))}
}
