package transfer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

// find is the item that a cell means, and the licenses that stand behind its name.
func (n itemNames) find(cell string) (id int64, licenses []string, err error) {
	short, licenses := withoutLicenses(cell)
	if id, ok := n.said[itemKey(cell)]; ok {
		return id, licenses, nil
	}
	if id, err := strconv.ParseInt(cell, 10, 64); err == nil && !n.foreign {
		return id, nil, nil
	}
	if id, err := n.named(cell); id != 0 || err != nil {
		return id, nil, err
	}
	if len(licenses) > 0 {
		if id, ok := n.said[itemKey(short)]; ok {
			return id, licenses, nil
		}
		if id, err := n.named(short); id != 0 || err != nil {
			return id, licenses, err
		}
	}
	return 0, nil, fmt.Errorf("%q is neither the id nor the name of an item; say which item it is", cell)
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

// withoutLicenses takes the licenses behind a name like "Theme (Extended)" away.
func withoutLicenses(name string) (short string, licenses []string) {
	for m := licenseSuffix.FindStringSubmatch(name); m != nil; m = licenseSuffix.FindStringSubmatch(name) {
		name, licenses = strings.TrimSuffix(name, m[0]), append(licenses, readLicenseType(m[1]))
	}
	return name, licenses
}

// licensesIn are the licenses that a cell names: each part of it that is nothing but licenses counts.
func licensesIn(cell string) (licenses []string) {
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(cell, " - ", ","), func(r rune) bool { return strings.ContainsRune("()[],;:/|&+–—\n", r) }) {
		licenses = append(licenses, licensesOf(part)...)
	}
	return licenses
}

// licensesOf are the licenses of a text that is nothing but their names: "Regular and Extended License".
func licensesOf(text string) (licenses []string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "regular", "extended":
			licenses = append(licenses, readLicenseType(word))
		case "license", "licence", "licenses", "licences", "and", "or":
		default:
			return nil
		}
	}
	return licenses
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
	id, licenses, err := items.find(l.sold.item)
	if err != nil {
		ask(&imp.report.CSV.UnknownItems, l.sold.item)
		return reason("item_id: " + err.Error())
	}
	l.ItemID = id
	return imp.csv.readLicense(l, licenses)
}

// readLicense makes the license of a sale the one that its row names: in a column, in the variant, or behind
// the name of the item. A value for all rows is for those that name none.
func (p *csvPlan) readLicense(l *purchaseLine, behindName []string) error {
	type names struct {
		cell     string
		licenses []string
	}
	named := []names{{l.sold.variant, licensesIn(l.sold.variant)}, {l.sold.item, behindName}}
	if slices.Contains(p.fields, licenseField) {
		licenses := licensesIn(l.LicenseType)
		if len(licenses) == 0 && l.LicenseType != "" {
			licenses = []string{l.LicenseType} // it is not valid
		}
		named = append(named, names{l.LicenseType, licenses})
	}
	first := ""
	for _, n := range named {
		for _, license := range n.licenses {
			switch {
			case first == "":
				first, l.LicenseType = n.cell, license
			case license != l.LicenseType && first == n.cell:
				return badf("the cell %q names two licenses; write the one that was sold", n.cell)
			case license != l.LicenseType:
				return badf("the row names two licenses, %q and %q; correct the one that is wrong", first, n.cell)
			}
		}
	}
	return nil
}
