package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// value is a flag whose text a function understands.
type value struct {
	kind, text string
	set        func(text string) error
}

// Set implements pflag.Value.
func (v *value) Set(text string) error {
	err := v.set(text)
	if err == nil {
		v.text = text
	}
	return err
}

// String implements pflag.Value.
func (v *value) String() string { return v.text }

// Type implements pflag.Value.
func (v *value) Type() string { return v.kind }

// Var adds a flag whose text parse understands. kind is what the help calls its value.
func Var[T any](flags *pflag.FlagSet, to *T, parse func(text string) (T, error), kind, name, usage string) {
	flags.Var(&value{kind: kind, set: func(text string) (err error) {
		*to, err = parse(text)
		return err
	}}, name, usage)
}

// Edits are the changes of a thing that the given flags of a command ask for.
type Edits[T any] []func(*T)

// Apply makes the changes.
func (e Edits[T]) Apply(to *T) {
	for _, change := range e {
		change(to)
	}
}

// EditVar adds a flag that sets a field of a thing to what parse understands. kind is what the help calls its value.
func EditVar[T, V any](flags *pflag.FlagSet, to *Edits[T], name, usage string, field func(*T) *V, parse func(text string) (V, error), kind string) {
	flags.Var(&value{kind: kind, set: func(text string) error {
		v, err := parse(text)
		*to = append(*to, func(thing *T) { *field(thing) = v })
		return err
	}}, name, usage)
}

// EditText is [EditVar] for a text.
func EditText[T any](flags *pflag.FlagSet, to *Edits[T], name, usage string, field func(*T) *string) {
	EditVar(flags, to, name, usage, field, func(text string) (string, error) { return text, nil }, "string")
}

// EditNumber is [EditVar] for a whole number.
func EditNumber[T any, N int | int64](flags *pflag.FlagSet, to *Edits[T], name, usage string, field func(*T) *N) {
	EditVar(flags, to, name, usage, field, func(text string) (N, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		return N(n), err
	}, "int")
}

// EditSwitch is [EditVar] for a switch, which is on when its flag has no value.
func EditSwitch[T any](flags *pflag.FlagSet, to *Edits[T], name, usage string, field func(*T) *bool) {
	EditVar(flags, to, name, usage, field, strconv.ParseBool, "bool")
	flags.Lookup(name).NoOptDefVal = "true"
}

// EditList is [EditVar] for a list of texts, which replaces the current one. Its flag can be repeated, and an empty
// text stands for none.
func EditList[T any, L ~[]string](flags *pflag.FlagSet, to *Edits[T], name, usage string, field func(*T) *L) {
	var given L
	flags.Var(&value{kind: "string", set: func(text string) error {
		if text != "" {
			given = append(given, text)
		}
		*to = append(*to, func(thing *T) { *field(thing) = given })
		return nil
	}}, name, usage)
}

// ParseDate reads a day, a moment, or one of the words never and none for the zero time.
func ParseDate(text string) (countersign.Timestamp, error) {
	if text == "never" || text == "none" {
		return countersign.Timestamp{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return countersign.At(day), nil
	}
	at, err := countersign.ParseTimestamp(text)
	if err != nil {
		err = usageError(fmt.Sprintf("invalid date %q: write 2006-01-02, which is the start of that day in UTC, or 2006-01-02T15:04:05Z", Safe(text)))
	}
	return at, err
}

// ParseMoney reads an amount.
func ParseMoney(text string) (countersign.Money, error) {
	amount, err := countersign.ParseMoney(text)
	if err != nil {
		err = usageError(fmt.Sprintf("invalid amount %q: expected one like 49.00, with at most two decimals", Safe(text)))
	}
	return amount, err
}

// ParseAge reads an age: a duration like 720h, or days like 365d.
func ParseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return 0, usageError(fmt.Sprintf("%q: expected an age like 365d or 720h", Safe(text)))
	}
	return age, nil
}

// ChoiceVar adds a flag that takes one of a few words, in any letter case. A shell completes them.
func ChoiceVar[T ~string](c *cobra.Command, to *T, name, short, usage string, choices ...T) {
	choiceFlag(c, string(*to), name, short, usage, choices, func(choice T) { *to = choice })
}

// EditChoice is [EditVar] for one of a few words, in any letter case. A shell completes them.
func EditChoice[T any, W ~string](c *cobra.Command, to *Edits[T], name, usage string, field func(*T) *W, choices ...W) {
	choiceFlag(c, "", name, "", usage, choices, func(choice W) {
		*to = append(*to, func(thing *T) { *field(thing) = choice })
	})
}

func choiceFlag[T ~string](c *cobra.Command, text, name, short, usage string, choices []T, chosen func(T)) {
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	c.Flags().VarP(&value{kind: "word", text: text, set: func(text string) error {
		for _, choice := range choices {
			if strings.EqualFold(text, string(choice)) {
				chosen(choice)
				return nil
			}
		}
		return usageError(fmt.Sprintf("invalid value %q: use %s", Safe(text), strings.Join(words, ", ")))
	}}, name, short, usage)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
