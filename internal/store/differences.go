package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
)

// errSame rolls a transaction back that would change nothing.
var errSame = errors.New("store: nothing to change")

// ifChanged is the error of a transaction, nil for one that would have changed nothing.
func ifChanged(err error) error {
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

// difference is a property before and after a change.
type difference struct{ name, was, is string }

// describe describes the properties that differ, for the audit log; "" when none does.
func describe(all []difference) (was, is string) {
	var wasParts, isParts []string
	for _, d := range all {
		if d.was != d.is {
			wasParts, isParts = append(wasParts, d.name+": "+shortened(d.was)), append(isParts, d.name+": "+shortened(d.is))
		}
	}
	return strings.Join(wasParts, ", "), strings.Join(isParts, ", ")
}

// describeItem describes what differs in an item, by the members of its JSON.
func describeItem(before, after Item) (was, is string, err error) {
	old, err := membersOf(before)
	if err != nil {
		return "", "", err
	}
	fresh, err := membersOf(after)
	if err != nil {
		return "", "", err
	}
	all := maps.Clone(old)
	maps.Copy(all, fresh)
	var differences []difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		differences = append(differences, difference{name, old[name], fresh[name]})
	}
	was, is = describe(differences)
	return was, is, nil
}

// membersOf returns the JSON of an item's members, those of objects with dots in their names.
func membersOf(i Item) (map[string]string, error) {
	text, err := countersign.EncodeJSON(struct {
		Kind    storedb.Kind `json:"kind"`
		Support bool         `json:"support"`
		countersign.Item
		Licensing licensing.Rule `json:"licensing"`
	}{i.Kind, i.Support, i.Item, i.Licensing})
	members := map[string]string{}
	if err == nil {
		err = addMembers(members, "", text)
	}
	return members, err
}

func addMembers(to map[string]string, prefix string, object []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return fmt.Errorf("store: describe an item: %w", err)
	}
	for name, text := range members {
		if text[0] != '{' {
			to[prefix+name] = string(text)
			continue
		}
		if err := addMembers(to, prefix+name+".", text); err != nil {
			return err
		}
	}
	return nil
}

// shortened bounds what the audit log has of a value.
func shortened(text string) string {
	const limit = 200
	if characters := []rune(text); len(characters) > limit {
		return fmt.Sprintf("%s… (%d characters)", string(characters[:limit]), len(characters))
	}
	return text
}
