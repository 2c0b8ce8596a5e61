package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
)

// values is a state of all settings by key: the draft, or a version. A secret's
// value is the id of the row that holds it.
type values map[string]addondb.Setting

// valuesOf takes rows as they are stored and adds the defaults of definitions that
// they lack.
func valuesOf(rows []addondb.Setting) values {
	v := make(values, len(rows))
	for _, row := range rows {
		v[row.Name] = row
	}
	for _, d := range definitions {
		row, there := v[d.Key]
		if !there {
			row.Value = d.Default
		}
		v.put(d.Key, d.Type, row.Value)
	}
	return v
}

func (v values) put(key string, kind Type, value string) {
	v[key] = addondb.Setting{Name: key, Kind: string(kind), Value: value}
}

// ownKind begins the kind of the owner's own keys. A row without it that this
// build has no definition of belongs to a later version: it is kept, and neither
// shown nor served, for it may not be public.
const ownKind = "own "

// own describes a key that the owner added, where the row is one.
func own(row addondb.Setting) (d Definition, is bool) {
	kind, is := strings.CutPrefix(row.Kind, ownKind)
	return ownDefinition(row.Name, Type(kind)), is
}

// describe finds what is known of a key: its definition, or that of an own one.
func (v values) describe(key string) (d Definition, known bool) {
	if d, defined := definition(key); defined {
		return d, true
	}
	return own(v[key])
}

// on reports whether a switch is.
func (v values) on(key string) bool {
	on, _ := checkSwitch(v[key].Value)
	return on
}

// rows is the values as they are stored, by key.
func (v values) rows() []addondb.Setting {
	list := make([]addondb.Setting, 0, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		list = append(list, v[key])
	}
	return list
}

// described lists what is known of all keys of some states: the definitions in
// their order, then the owners' own keys by name.
func described(states ...values) []Definition {
	list := Definitions()
	known := make(map[string]bool, len(list))
	for _, d := range list {
		known[d.Key] = true
	}
	added := map[string]Definition{}
	for _, v := range states {
		for key, row := range v {
			if d, is := own(row); is && !known[key] {
				added[key] = d
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(added)) {
		list = append(list, added[key])
	}
	return list
}

// ownDefinition describes a key that the owner added.
func ownDefinition(key string, kind Type) Definition {
	checks := map[Type]func(string) (string, string){TypeText: checkOwnText, TypeBool: checkBool, TypeNumber: checkNumber}
	return Definition{
		Key: key, Area: AreaApp, Group: "Extra keys", Type: kind, Public: true, Label: key,
		Help: "Your own key, which the app receives with the others.", check: checks[kind],
	}
}

// changes lists how one state differs from another.
func changes(before, after values, accounts iap.Accounts) []Change {
	var list []Change
	for _, d := range described(before, after) {
		b, had := before[d.Key]
		n, has := after[d.Key]
		if b == n {
			continue
		}
		list = append(list, Change{
			Key: d.Key, Label: d.Label, Added: !had, Removed: !has,
			Before: show(accounts, d, b.Value), After: show(accounts, d, n.Value),
		})
	}
	return list
}

// iap is the settings of in-app purchases among them.
func (v values) iap() iap.Values { return iap.ValuesOf(v.rows()) }

// show returns the value of a setting as people may see it: of a secret, a sentence
// about it.
func show(accounts iap.Accounts, d Definition, value string) string {
	if d.Type != TypeServiceAccount {
		return value
	}
	return accounts.Describe(value)
}

// appendValue prints the value of a setting.
func appendValue(b []byte, kind Type, value string) []byte {
	switch kind {
	case TypeBool:
		on, _ := checkSwitch(value)
		return fmt.Appendf(b, "%t", on)
	case TypeNumber:
		return append(b, value...)
	case TypeProducts:
		return append(b, value...)
	case TypeServiceAccount:
		return append(b, "null"...)
	}
	b, _ = countersign.AppendJSON(b, value) // a string always can be
	return b
}
