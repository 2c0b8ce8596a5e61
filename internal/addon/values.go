package addon

import (
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
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

// on tells whether a switch is.
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
	own := map[string]Definition{}
	for _, v := range states {
		for key, row := range v {
			if !known[key] {
				own[key] = ownDefinition(key, Type(row.Kind))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		list = append(list, own[key])
	}
	return list
}

// ownDefinition describes a key that the owner added.
func ownDefinition(key string, kind Type) Definition {
	checks := map[Type]func(string) (string, string){TypeText: checkOwnText, TypeBool: checkBool, TypeNumber: checkNumber}
	return Definition{
		Key: key, Area: AreaApp, Group: "Extra keys", Type: kind, Public: true, Label: key,
		Help: "A key of your own, which the app receives beside the others.", check: checks[kind],
	}
}

// changes lists how one state differs from another.
func changes(before, after values, accounts accounts) []Change {
	var list []Change
	for _, d := range described(before, after) {
		b, had := before[d.Key]
		n, has := after[d.Key]
		if b == n {
			continue
		}
		list = append(list, Change{
			Key: d.Key, Label: d.Label, Added: !had, Removed: !has,
			Before: accounts.show(d, b.Value), After: accounts.show(d, n.Value),
		})
	}
	return list
}
