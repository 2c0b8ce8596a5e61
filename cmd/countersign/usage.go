package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage is the error of a command that was typed wrongly.
func usage(c *cobra.Command, message string) error {
	return fail(exitUsage, "usage", fmt.Sprintf("%s; see: %s --help", message, c.CommandPath()))
}

func unknownCommand(c *cobra.Command, name string) error {
	return usage(c, fmt.Sprintf("unknown command %q for %q%s", safe(name), c.CommandPath(), didYouMean(c.SuggestionsFor(name))))
}

// flagError words what pflag has to say. It repeats no value: one may be a
// password.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if unknown.GetSpecifiedShortnames() != "" {
			return usage(c, fmt.Sprintf("unknown flag -%s", safe(unknown.GetSpecifiedName())))
		}
		name := unknown.GetSpecifiedName()
		return usage(c, fmt.Sprintf("unknown flag --%s%s", safe(name), didYouMean(similarFlags(c, name))))
	}
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return usage(c, fmt.Sprintf("--%s: %v", value.GetFlag().Name, plainValueError(value)))
	}
	if errors.As(err, new(*pflag.InvalidSyntaxError)) {
		return usage(c, "unknown flag; an argument that begins with - has to stand after --")
	}
	return usage(c, err.Error())
}

// plainValueError is what is wrong with a flag's value, without the words of the
// function that found out.
func plainValueError(err *pflag.InvalidValueError) string {
	cause := errors.Unwrap(err)
	if ours := (*exitError)(nil); errors.As(cause, &ours) {
		return ours.message
	}
	return fmt.Sprintf("invalid value %q: expected %s", safe(err.GetValue()), map[string]string{
		"bool": "true or false", "int": "a whole number", "int64": "a whole number", "duration": "a length of time like 24h or 30m",
	}[err.GetFlag().Value.Type()])
}

// similarFlags finds flags that may have been meant, with the measure that cobra
// has for commands.
func similarFlags(c *cobra.Command, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	found := names.SuggestionsFor(name)
	for i := range found {
		found[i] = "--" + found[i]
	}
	return found
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// require is the error of a flag that must be given and was not.
func require(c *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := c.Flag(name); f.Value.String() == "" || f.Value.String() == "0" {
			return usage(c, fmt.Sprintf("--%s is missing%s", name, howToFind[name]))
		}
	}
	return nil
}

// howToFind says where the value of a flag can be looked up.
var howToFind = map[string]string{
	"workspace": " (list them with: countersign store workspace list)",
	"item":      " (list them with: countersign store item list)",
}
