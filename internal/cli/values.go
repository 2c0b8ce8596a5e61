package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/spf13/cobra"
)

// Date is a flag that takes a day or a moment.
type Date struct {
	countersign.Timestamp
	never bool // the word never was given
}

// Set implements pflag.Value.
func (d *Date) Set(text string) error {
	if d.never = text == "never"; d.never {
		d.Timestamp = countersign.Timestamp{}
		return nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err == nil {
		d.Timestamp = countersign.At(day)
		return nil
	}
	if d.Timestamp, err = countersign.ParseTimestamp(text); err != nil {
		return usageError(fmt.Sprintf("invalid date %q: write 2006-01-02, which is the start of that day in UTC, or 2006-01-02T15:04:05Z", Safe(text)))
	}
	return nil
}

// String implements pflag.Value.
func (d *Date) String() string {
	if d.never {
		return "never"
	}
	return Second(d.Timestamp)
}

// Type implements pflag.Value.
func (*Date) Type() string { return "date" }

// Money is a flag that takes an amount.
type Money struct{ countersign.Money }

// Set implements pflag.Value.
func (m *Money) Set(text string) error {
	amount, err := countersign.ParseMoney(text)
	if err != nil {
		return usageError(fmt.Sprintf("invalid amount %q: expected one like 49.00", Safe(text)))
	}
	m.Money = amount
	return nil
}

// Type implements pflag.Value.
func (*Money) Type() string { return "amount" }

// Choice is a flag that takes one of a few words, in any letter case.
type Choice struct {
	Value   string
	Choices []string
}

// Register adds the flag, which a shell completes.
func (v *Choice) Register(c *cobra.Command, name, short, usage string) {
	c.Flags().VarP(v, name, short, usage)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(v.Choices, cobra.ShellCompDirectiveNoFileComp))
}

// Set implements pflag.Value.
func (v *Choice) Set(text string) error {
	for _, choice := range v.Choices {
		if strings.EqualFold(text, choice) {
			v.Value = choice
			return nil
		}
	}
	return usageError(fmt.Sprintf("invalid value %q: use %s", Safe(text), strings.Join(v.Choices, ", ")))
}

// String implements pflag.Value.
func (v *Choice) String() string { return v.Value }

// Type implements pflag.Value.
func (*Choice) Type() string { return "word" }

// Age is a flag that takes an age: a duration like 720h, or days like 365d.
type Age struct{ time.Duration }

// Set implements pflag.Value.
func (a *Age) Set(text string) error {
	age, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return usageError(fmt.Sprintf("%q: expected an age like 365d or 720h", Safe(text)))
	}
	a.Duration = age
	return nil
}

// Type implements pflag.Value.
func (*Age) Type() string { return "age" }

// String implements pflag.Value.
func (a *Age) String() string {
	if a.Duration == 0 {
		return ""
	}
	return a.Duration.String()
}
