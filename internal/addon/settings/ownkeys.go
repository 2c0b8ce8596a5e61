package settings

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// maxOwnKeys is how many keys an owner may add.
const maxOwnKeys = 200

var ownKeyPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// AddKey adds a public setting of the owner's own to the draft. kind is
// [TypeText], [TypeBool] or [TypeNumber]. A name that is taken is a conflict
// (setting_exists), one that can't be used is invalid with Fields "key", "type" or
// "value". A value that looks like a secret is secret_looking with the Field "value".
func (s *Service) AddKey(ctx context.Context, actor people.Actor, edit Edit, key string, kind Type, value string) (Draft, error) {
	key, value, err := edit.checkOwnKey(key, kind, value)
	if err != nil {
		return Draft{}, err
	}
	return s.changeDraft(ctx, actor, edit, func(_ *addondb.DB, _ Draft, v values) error {
		// The same name in other letters would be a trap for whoever reads it.
		for taken := range v {
			if strings.EqualFold(taken, key) {
				return fault.Conflict("setting_exists", "A setting already has the key "+taken)
			}
		}
		if len(v)-len(definitions) >= maxOwnKeys {
			return input.Refused(map[string]string{"key": fmt.Sprintf("You already have %d keys of your own", maxOwnKeys)})
		}
		v.put(key, ownKind+kind, value)
		return nil
	})
}

// CheckKey returns all that is wrong with a key of the owner's own, as [Service.AddKey] does before it reads the draft.
func (e Edit) CheckKey(key string, kind Type, value string) error {
	_, _, err := e.checkOwnKey(key, kind, value)
	return err
}

// checkOwnKey returns a key and its value as they are kept.
func (e Edit) checkOwnKey(key string, kind Type, value string) (_, _ string, err error) {
	problems := map[string]string{}
	if key = strings.TrimSpace(key); !ownKeyPattern.MatchString(key) {
		problems["key"] = "A key is 1 to 64 letters, digits and underscores, and begins with a letter"
	}
	if check := ownDefinition(key, kind).check; check == nil {
		problems["type"] = fmt.Sprintf("A key of your own is %s, %s or %s", TypeText, TypeBool, TypeNumber)
	} else if cleaned, problem := check(value); problem != "" {
		problems["value"] = problem
	} else {
		value = cleaned
	}
	if len(problems) > 0 {
		return "", "", input.Refused(problems)
	}
	if problem := input.NoSecret(key, value); problem != "" && !e.AllowSecretLooking {
		return "", "", input.RefusedSecrets(map[string]string{"value": problem})
	}
	return key, value, nil
}

// RemoveKey takes one of the owner's own keys out of the draft. The app loses it
// with the next publish. Its error is of kind NotFound when the key does not exist. changes, which may be nil,
// are set with it, as by [Service.Set]: all or nothing.
func (s *Service) RemoveKey(ctx context.Context, actor people.Actor, edit Edit, key string, changes map[string]string) (Draft, error) {
	return s.changeDraft(ctx, actor, edit, func(tx *addondb.DB, _ Draft, v values) error {
		if _, defined := definition(key); defined {
			return fault.Conflict("key_defined", "The setting "+key+" is built in. You can remove only your own keys")
		}
		if _, is := own(v[key]); !is {
			return fault.NotFound("setting_not_found", "No setting with the key "+strconv.Quote(input.Shorten(key)))
		}
		delete(v, key)
		if changes == nil {
			return nil
		}
		return s.set(ctx, tx, edit, v, changes, map[string]string{})
	})
}
