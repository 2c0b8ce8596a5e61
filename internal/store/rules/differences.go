package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/wording"
)

// maxValue is how many characters of a value the audit log has.
const maxValue = 200

// Differences collects what a change altered, for the audit log.
type Differences struct{ was, is []string }

// Add adds a property by its name, its value before and after, unless they are equal. Long values are
// shortened.
func (d *Differences) Add(name, was, is string) {
	if was != is {
		d.was, d.is = append(d.was, name+": "+wording.Shortened(was, maxValue)), append(d.is, name+": "+wording.Shortened(is, maxValue))
	}
}

// Texts returns the properties as they were and as they are; "" when none differs.
func (d *Differences) Texts() (was, is string) {
	return strings.Join(d.was, ", "), strings.Join(d.is, ", ")
}

// DescribeMembers describes the [Differences] of the JSON objects of two values. Members of objects within
// have dots in their names.
func DescribeMembers(before, after any) (was, is string, err error) {
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
	var d Differences
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.Add(name, old[name], fresh[name])
	}
	was, is = d.Texts()
	return was, is, nil
}

func membersOf(value any) (map[string]string, error) {
	text, err := countersign.EncodeJSON(value)
	members := map[string]string{}
	if err == nil {
		err = addMembers(members, "", text)
	}
	return members, err
}

func addMembers(to map[string]string, prefix string, object []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return fmt.Errorf("rules: describe a change: %w", err)
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
