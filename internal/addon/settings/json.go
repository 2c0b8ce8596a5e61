package settings

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// SetJSON is Set with JSON values: a string where a setting is
// text, a boolean, a string or a number where it is a switch, an object or its
// text for the product map and the service account. null is left as it is.
func (s *Service) SetJSON(ctx context.Context, actor people.Actor, edit Edit, changes map[string]json.RawMessage) (Draft, error) {
	return s.changeDraft(ctx, actor, edit, func(tx *addondb.DB, _ Draft, v values) error {
		texts, problems := map[string]string{}, map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(changes)) {
			value := jsontext.Value(changes[key])
			if value.Kind() == jsontext.KindNull {
				continue
			}
			d, _ := v.describe(key) // an unknown key is refused later
			text, problem := textOf(d.Type, value)
			if problem != "" {
				problems[key] = problem
				continue
			}
			texts[key] = text
		}
		return s.set(ctx, tx, edit, v, texts, problems)
	})
}

// textOf is a JSON value as the text that a setting of a type is set with.
func textOf(kind Type, value jsontext.Value) (text, problem string) {
	if !value.IsValid(jsontext.AllowDuplicateNames(true)) { // who reads it says which
		return "", "This is not valid JSON"
	}
	is := value.Kind()
	if is == jsontext.KindString {
		text, _ := jsontext.AppendUnquote(nil, value) // it is valid
		return string(text), ""
	}
	switch kind {
	case TypeBool, TypeFlag:
		if is == jsontext.KindTrue || is == jsontext.KindFalse || is == jsontext.KindNumber {
			return string(value), ""
		}
		return "", "It must be true or false"
	case TypeNumber:
		if is == jsontext.KindNumber {
			return string(value), ""
		}
		return "", "It must be a number"
	case TypeProducts, TypeServiceAccount:
		if is == jsontext.KindBeginObject {
			return string(value), ""
		}
		return "", "Expected a JSON object, or a string with one"
	case TypeText, TypeChoice:
		return "", "It must be a string"
	}
	return string(value), "" // an unknown key is refused as such
}
