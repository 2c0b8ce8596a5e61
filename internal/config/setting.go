// Package config sets the flags of a command that was not given them: from variables, then from
// a configuration file in TOML, else they keep their defaults. It knows where each value comes from.
package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/pflag"
)

// Setting is a flag that a variable and the configuration file can set, too.
type Setting struct {
	// Key is its name in the file. It is the name of the flag of serve.
	Key  string
	Flag *pflag.Flag
	// Variable is its variable in the environment.
	Variable string
	// Secret reports that its value may hold a password. The variable with _FILE may name a file with the value.
	Secret bool
}

// list is a flag that can be repeated.
func (s Setting) list() (list pflag.SliceValue, is bool) {
	list, is = s.Flag.Value.(pflag.SliceValue)
	return list, is
}

// isPath reports whether the value is the name of a file or a folder, as the flag's help says.
func (s Setting) isPath() bool {
	name, _ := pflag.UnquoteUsage(s.Flag)
	return name == "file" || name == "folder"
}

// Value returns the value: a string, a bool, an int64 or a list of strings.
func (s Setting) Value() any {
	if list, is := s.list(); is {
		return append([]string{}, list.GetSlice()...)
	}
	text := s.Flag.Value.String()
	switch s.kind() {
	case kindSwitch:
		return text == "true"
	case kindNumber:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return text
}

type kind int

const (
	kindText kind = iota
	kindSwitch
	kindNumber
	kindList
)

func (s Setting) kind() kind {
	if _, is := s.list(); is {
		return kindList
	}
	switch s.Flag.Value.Type() {
	case "bool":
		return kindSwitch
	case "int", "int64", "uint", "uint64":
		return kindNumber
	}
	return kindText
}

// texts returns a value of a file as texts for the flag: one, and any number for a list.
func (s Setting) texts(f *File, e entry) ([]string, error) {
	switch v := e.value.(type) {
	case bool:
		if s.kind() == kindSwitch {
			return []string{strconv.FormatBool(v)}, nil
		}
	case int64:
		if s.kind() == kindNumber {
			return []string{strconv.FormatInt(v, 10)}, nil
		}
	case string:
		if s.kind() == kindText {
			text, err := s.text(f, v)
			return []string{text}, err
		}
	case []any:
		if s.kind() == kindList {
			return s.elements(f, v)
		}
	}
	return nil, s.wrongType()
}

func (s Setting) elements(f *File, values []any) ([]string, error) {
	list := make([]string, len(values))
	for i, v := range values {
		text, is := v.(string)
		if !is {
			return nil, s.wrongType()
		}
		var err error
		if list[i], err = s.text(f, text); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s Setting) wrongType() error {
	return fmt.Errorf("%s has a value of the wrong type: expected %s, as in %s", s.Key, map[kind]string{
		kindText: "a text in quotes", kindSwitch: "true or false", kindNumber: "a whole number", kindList: "a list of texts",
	}[s.kind()], s.example())
}

// example is a line of a file with the default, or with the kind of value that the help names.
func (s Setting) example() string {
	name, _ := pflag.UnquoteUsage(s.Flag)
	switch {
	case s.kind() == kindList:
		return fmt.Sprintf(`%s = ["%s"]`, s.Key, strings.ToUpper(name))
	case s.kind() != kindText:
		return s.Key + " = " + s.Flag.DefValue
	case s.Flag.DefValue != "":
		return s.Key + " = " + quote(s.Flag.DefValue)
	}
	return fmt.Sprintf(`%s = "%s"`, s.Key, strings.ToUpper(name))
}

// text checks a text of the file. The name of a file or folder starts at the folder of the file.
func (s Setting) text(f *File, text string) (string, error) {
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty; set a value, or remove the line", s.Key)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("%s contains a control character; remove it", s.Key)
	case s.isPath() && !filepath.IsAbs(text):
		return filepath.Join(filepath.Dir(f.Path), text), nil
	}
	return text, nil
}

// Apply sets each flag that was not given: from its variable, which lookup reads ("" when it is not
// set), else from the file. [OriginOf] then knows where its value comes from.
func Apply(all []Setting, lookup func(Setting) (value, variable string, err error), f *File) error {
	return each(all, func(s Setting) error { return s.apply(lookup, f) })
}

// CheckFlags checks the flags that were given, as [Apply] does. Its error names all that are empty.
func CheckFlags(all []Setting) error { return each(all, Setting.checkFlag) }

// each joins the errors of a check of each setting.
func each(all []Setting, check func(Setting) error) error {
	var wrong []string
	for _, s := range all {
		if err := check(s); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// checkFlag refuses a flag that was given without a value: a variable of a shell was not set.
func (s Setting) checkFlag() error {
	if !s.Flag.Changed {
		return nil
	}
	texts := []string{s.Flag.Value.String()}
	if list, is := s.list(); is {
		texts = list.GetSlice()
	}
	switch {
	case len(texts) == 0 || len(texts) == 1 && texts[0] == "":
		return fmt.Errorf("--%s is empty; set a value, or omit it", s.Flag.Name)
	case slices.Contains(texts, ""):
		return fmt.Errorf("--%s has an empty value; remove it", s.Flag.Name)
	}
	return nil
}

func (s Setting) apply(lookup func(Setting) (value, variable string, err error), f *File) error {
	if s.Flag.Changed {
		return s.checkFlag()
	}
	value, variable, err := lookup(s)
	if err != nil {
		return err
	}
	if variable != "" {
		return s.set(Origin{Variable: variable}, value)
	}
	if !f.Has(s.Key) {
		return nil
	}
	e := f.entries[s.Key]
	at := Origin{File: f.Path, Line: e.line}
	texts, err := s.texts(f, e)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return s.set(at, texts...)
}

// set sets the flag to what comes from an origin.
func (s Setting) set(from Origin, texts ...string) error {
	from.note(s)
	list, is := s.list()
	if is && from.Variable == "" {
		return list.Replace(texts)
	}
	if err := s.Flag.Value.Set(texts[0]); err != nil {
		return fmt.Errorf("%s: %s", from.label(s.Key), cli.ValueProblem(s.Flag, texts[0], err))
	}
	return nil
}
