package pages

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/frame"
)

// diffOf is changes as the frame draws them, with values in words. A setting of
// ours that appears without a value changes nothing for anybody.
func diffOf(changes []settings.Change) (d frame.Diff) {
	types := map[string]settings.Type{}
	for _, one := range settings.Definitions() {
		types[one.Key] = one.Type
	}
	for _, c := range changes {
		kind, known := types[c.Key]
		if known && c.Added && worded(kind, c.After) == "" {
			continue
		}
		d = append(d, frame.Change{
			Key: c.Key, Label: labelOf(c.Key, c.Label), Before: worded(kind, c.Before), After: worded(kind, c.After), Added: c.Added, Removed: c.Removed,
		})
	}
	return d
}

// labelOf is the name of a setting beside its key; an owner's own key has no other
// name.
func labelOf(key, label string) string {
	if key == label {
		return ""
	}
	return label
}

// worded is a value as people say it.
func worded(kind settings.Type, value string) string {
	switch kind {
	case settings.TypeBool, settings.TypeFlag:
		if value == "true" || value == "1" {
			return "on"
		}
		return "off"
	case settings.TypeProducts:
		products, err := iap.ParseProducts(value)
		if err != nil {
			return value
		}
		lines := make([]string, len(products))
		for i, p := range products {
			lines[i] = fmt.Sprintf("%s activates package %d", p.StoreID, p.PackageID)
		}
		return strings.Join(lines, "\n")
	}
	return value
}
