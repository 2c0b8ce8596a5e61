package transfer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
)

// maxNamedItems is how many items of a workspace are known by their names.
const maxNamedItems = 100_000

// itemNames finds items of a workspace by what cells say: as somebody has said it, by the id, or by the
// name if one item alone has it.
type itemNames struct {
	said    map[string]int64   // by itemKey
	byName  map[string][]int64 // by itemKey, nil until it is needed
	foreign bool               // numbers are ids of another shop
}

// itemKey makes texts alike that differ in letter case and spaces.
func itemKey(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func itemKeys(said map[string]int64) map[string]int64 {
	all := make(map[string]int64, len(said))
	for text, id := range said {
		all[itemKey(text)] = id
	}
	return all
}

// itemsByName are the ids of a workspace's items by their names.
func itemsByName(ctx context.Context, db *storedb.DB, workspace int64) (map[string][]int64, error) {
	list, err := db.ListItemNames(ctx, workspace, maxNamedItems)
	byName := make(map[string][]int64, len(list))
	for _, item := range list {
		key := itemKey(item.Name)
		byName[key] = append(byName[key], item.ID)
	}
	return byName, err
}

// licenseSuffix is the variant behind the name of an item.
var licenseSuffix = regexp.MustCompile(`(?i)\s*(?:[(\[]|[-–—:,|/]\s)\s*(regular|extended)(?: licen[cs]e)?\s*[)\]]?$`)

// find is the item that a cell means, and the license that stands behind its name, "" for none.
func (n itemNames) find(cell string) (id int64, license string, err error) {
	if id, ok := n.said[itemKey(cell)]; ok {
		return id, licenseBehind(cell), nil
	}
	if id, err := strconv.ParseInt(cell, 10, 64); err == nil && !n.foreign {
		return id, "", nil
	}
	if id, err := n.named(cell); id != 0 || err != nil {
		return id, "", err
	}
	if short := licenseSuffix.ReplaceAllString(cell, ""); short != cell {
		if id, ok := n.said[itemKey(short)]; ok {
			return id, licenseBehind(cell), nil
		}
		if id, err := n.named(short); id != 0 || err != nil {
			return id, licenseBehind(cell), err
		}
	}
	return 0, "", fmt.Errorf("%q is neither the id nor the name of an item; say which item it is", cell)
}

// named is the item that has a name, 0 for none.
func (n itemNames) named(name string) (int64, error) {
	switch ids := n.byName[itemKey(name)]; len(ids) {
	case 0:
		return 0, nil
	case 1:
		return ids[0], nil
	default:
		return 0, fmt.Errorf("%d items are called %q; say which one it is", len(ids), name)
	}
}

// licenseBehind is the license in a name like "Theme (Extended)", "" for none.
func licenseBehind(name string) string {
	if m := licenseSuffix.FindStringSubmatch(name); m != nil {
		return readLicenseType(m[1])
	}
	return ""
}

// variantLicense is the license that a variant, or a part of it between signs, names: "" for none, and
// Extended where it names both.
func variantLicense(variant string) (license string) {
	for part := range strings.FieldsFuncSeq(variant, func(r rune) bool { return strings.ContainsRune("()[],;:/|", r) }) {
		for word := range strings.SplitSeq(part, " - ") {
			switch named := readLicenseType(strings.TrimSpace(word)); named {
			case countersign.LicenseExtended:
				return named
			case countersign.LicenseRegular:
				license = named
			}
		}
	}
	return license
}

// withItemFault is the error of a row, also with what is wrong with its item.
func (imp *importer) withItemFault(ctx context.Context, l purchaseLine, err error) error {
	var here, item *badLine
	if errors.As(err, &here) && errors.As(imp.readItem(ctx, &l), &item) {
		return reason(item.Error() + "; " + here.Error())
	}
	return err
}

// readItem makes what a row says about its item the id and the license.
func (imp *importer) readItem(ctx context.Context, l *purchaseLine) error {
	items := &imp.csv.items
	if l.sold.item == "" {
		return badf("item_id is missing")
	}
	if _, err := strconv.ParseInt(l.sold.item, 10, 64); err != nil && items.byName == nil {
		if items.byName, err = itemsByName(ctx, imp.session, imp.csv.workspace.ID); err != nil {
			return err
		}
	}
	id, license, err := items.find(l.sold.item)
	if err != nil {
		ask(&imp.report.CSV.UnknownItems, l.sold.item)
		return reason("item_id: " + err.Error())
	}
	l.ItemID = id
	return imp.csv.readLicense(l, license)
}

// readLicense makes the license of a sale the one that its row names: in a column, in the variant, or behind
// the name of the item. A value for all rows is for those that name none.
func (p *csvPlan) readLicense(l *purchaseLine, behindName string) error {
	named := []struct{ license, cell string }{{variantLicense(l.sold.variant), l.sold.variant}, {behindName, l.sold.item}}
	if slices.Contains(p.fields, licenseField) {
		named = append(named, struct{ license, cell string }{l.LicenseType, l.LicenseType})
	}
	first := ""
	for _, n := range named {
		switch {
		case n.license == "":
		case first == "":
			first, l.LicenseType = n.cell, n.license
		case n.license != l.LicenseType:
			return badf("the row names two licenses, %q and %q; correct the one that is wrong", first, n.cell)
		}
	}
	return nil
}
