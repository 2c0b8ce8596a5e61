package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// dateValue is a flag that takes a day or a moment.
type dateValue struct {
	countersign.Timestamp
	never bool // the word never was given
}

// Set implements pflag.Value.
func (d *dateValue) Set(text string) error {
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
		return fail(exitUsage, "usage", fmt.Sprintf("invalid date %q: write 2006-01-02, which is the start of that day in UTC, or 2006-01-02T15:04:05Z", safe(text)))
	}
	return nil
}

// String implements pflag.Value.
func (d *dateValue) String() string {
	if d.never {
		return "never"
	}
	return second(d.Timestamp)
}

// Type implements pflag.Value.
func (*dateValue) Type() string { return "date" }

// moneyValue is a flag that takes an amount.
type moneyValue struct{ countersign.Money }

// Set implements pflag.Value.
func (m *moneyValue) Set(text string) error {
	amount, err := countersign.ParseMoney(text)
	if err != nil {
		return fail(exitUsage, "usage", fmt.Sprintf("invalid amount %q: expected one like 49.00", safe(text)))
	}
	m.Money = amount
	return nil
}

// Type implements pflag.Value.
func (*moneyValue) Type() string { return "amount" }

// choiceValue is a flag that takes one of a few words, in any letter case.
type choiceValue struct {
	value   string
	choices []string
}

// Set implements pflag.Value.
func (c *choiceValue) Set(text string) error {
	for _, choice := range c.choices {
		if strings.EqualFold(text, choice) {
			c.value = choice
			return nil
		}
	}
	return fail(exitUsage, "usage", fmt.Sprintf("invalid value %q: use %s", safe(text), strings.Join(c.choices, ", ")))
}

// String implements pflag.Value.
func (c *choiceValue) String() string { return c.value }

// Type implements pflag.Value.
func (*choiceValue) Type() string { return "word" }

// ageValue is a flag that takes an age: a duration like 720h, or days like 365d.
type ageValue struct{ time.Duration }

// Set implements pflag.Value.
func (a *ageValue) Set(text string) error {
	age, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return fail(exitUsage, "usage", fmt.Sprintf("%q: expected an age like 365d or 720h", safe(text)))
	}
	a.Duration = age
	return nil
}

// Type implements pflag.Value.
func (*ageValue) Type() string { return "age" }

// String implements pflag.Value.
func (a *ageValue) String() string {
	if a.Duration == 0 {
		return ""
	}
	return a.Duration.String()
}
