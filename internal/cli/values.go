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

// DateVar adds a flag that takes a day, a moment, or the word never for none.
func DateVar(flags *pflag.FlagSet, to *countersign.Timestamp, name, usage string) {
	flags.Var(&value{kind: "date", set: func(text string) (err error) {
		*to, err = parseDate(text)
		return err
	}}, name, usage)
}

func parseDate(text string) (countersign.Timestamp, error) {
	if text == "never" {
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

// MoneyVar adds a flag that takes an amount.
func MoneyVar(flags *pflag.FlagSet, to *countersign.Money, name, usage string) {
	flags.Var(&value{kind: "amount", set: func(text string) (err error) {
		if *to, err = countersign.ParseMoney(text); err != nil {
			return usageError(fmt.Sprintf("invalid amount %q: expected one like 49.00", Safe(text)))
		}
		return nil
	}}, name, usage)
}

// AgeVar adds a flag that takes an age: a duration like 720h, or days like 365d.
func AgeVar(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	flags.Var(&value{kind: "age", set: func(text string) (err error) {
		*to, err = parseAge(text)
		return err
	}}, name, usage)
}

func parseAge(text string) (time.Duration, error) {
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
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	c.Flags().VarP(&value{kind: "word", text: string(*to), set: func(text string) error {
		for _, choice := range choices {
			if strings.EqualFold(text, string(choice)) {
				*to = choice
				return nil
			}
		}
		return usageError(fmt.Sprintf("invalid value %q: use %s", Safe(text), strings.Join(words, ", ")))
	}}, name, short, usage)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
