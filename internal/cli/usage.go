package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is the error of wrong input that no command's help explains.
func usageError(message string) error { return Fail(ExitUsage, "usage", message) }

// Usage returns the error of a command that was typed wrongly.
func Usage(c *cobra.Command, message string) error {
	return usageError(fmt.Sprintf("%s; see: %s --help", message, c.CommandPath()))
}

// Group creates a command that only has commands below it. One of them has to be named.
func Group(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args, c.SuggestionsMinimumDistance = cobra.ArbitraryArgs, 2
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage(c, "expected a command: "+strings.Join(commandNames(c), ", "))
		}
		return unknownCommand(c, args[0])
	}
	c.AddCommand(below...)
	return c
}

// commandNames lists the commands of a group.
func commandNames(c *cobra.Command) (names []string) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			names = append(names, below.Name())
		}
	}
	return names
}

// groupCompletion makes a group of the command that prints the scripts for shells, which cobra adds.
func groupCompletion(root *cobra.Command, args []string) {
	root.InitDefaultCompletionCmd(args...)
	for _, c := range root.Commands() {
		if !c.Runnable() {
			Group(c)
		}
	}
}

// Help returns the command that shows the help of others.
func Help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil {
				return unknownCommand(c.Root(), strings.Join(args, " "))
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	return Usage(c, fmt.Sprintf("unknown command %q for %q%s", Safe(name), c.CommandPath(), didYouMean(c.SuggestionsFor(name))))
}

// Args wants one argument for each name. The names are for the message.
func Args(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == len(names):
			return nil
		case len(names) == 0:
			return Usage(c, fmt.Sprintf("unexpected argument %q", Safe(args[0])))
		case len(names) == 1:
			return Usage(c, fmt.Sprintf("expected one %s, got %d", names[0], len(args)))
		}
		return Usage(c, fmt.Sprintf("expected a %s, got %s", strings.Join(names, " and a "), Count(len(args), "argument", "arguments")))
	}
}

// OptionalArg refuses more than one argument. name is what a person calls it.
func OptionalArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usage(c, fmt.Sprintf("expected at most one %s, got %d", name, len(args)))
		}
		return nil
	}
}

// ParseID reads the id of a thing, which what names.
func ParseID(c *cobra.Command, what, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, Usage(c, "invalid id "+strconv.Quote(Safe(text))+" of the "+what+": expected a positive whole number"+howToFind[what])
	}
	return id, nil
}

// flagError words what pflag has to say. It repeats no value: one may be a password.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if unknown.GetSpecifiedShortnames() != "" {
			return Usage(c, fmt.Sprintf("unknown flag -%s%s", Safe(unknown.GetSpecifiedName()), ifArgument(c)))
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return Usage(c, fmt.Sprintf("unknown flag %s%s", Safe(name), cmp.Or(didYouMean(nearest(name, names)), ifArgument(c))))
	}
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usage(c, fmt.Sprintf("--%s: %v", value.GetFlag().Name, ValueProblem(value.GetFlag(), value.GetValue(), errors.Unwrap(value))))
	}
	if errors.As(err, new(*pflag.InvalidSyntaxError)) {
		return Usage(c, "unknown flag"+ifArgument(c))
	}
	return Usage(c, err.Error())
}

// ifArgument says how to write an argument that looks like a flag: a purchase code may begin with a hyphen.
func ifArgument(c *cobra.Command) string {
	if c.HasSubCommands() || c.Args == nil || c.Args(c, []string{"x"}) != nil && c.Args(c, []string{"x", "x"}) != nil {
		return ""
	}
	return "; write -- before an argument that begins with -"
}

// ValueProblem returns what is wrong with a flag's value, without the words of the function that
// found out. err is its error.
func ValueProblem(f *pflag.Flag, text string, err error) string {
	if ours, ok := errors.AsType[*exitError](err); ok {
		return ours.message
	}
	return fmt.Sprintf("invalid value %q: expected %s", Safe(text), map[string]string{
		"bool": "true or false", "int": "a whole number", "int64": "a whole number", "duration": "a length of time like 24h or 30m",
		"stringSlice": "values with commas between them",
	}[f.Value.Type()])
}

// DidYouMean returns a remark behind a wrong name on those of some names that may have been meant, "" for none.
func DidYouMean(name string, names []string) string {
	found := nearest(name, names)
	if len(found) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(found, " or ") + "?)"
}

// nearest lists the names that are near to a name, by the distance that cobra has for commands.
func nearest(name string, names []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, n := range names {
		all.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(name)
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// Require returns a check for flags that must be given.
func Require(names ...string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		for _, name := range names {
			if f := c.Flag(name); cmp.Or(f.Value.String(), "0") == "0" {
				return Usage(c, fmt.Sprintf("--%s is missing%s", name, howToFind[name]))
			}
		}
		return nil
	}
}

// howToFind describes where the value of a flag can be looked up.
var howToFind = map[string]string{
	"workspace": " (list them with: countersign store workspace list)",
	"item":      " (list them with: countersign store item list)",
}

// Refuse returns a check for flags that are wrong.
func Refuse(wrong func() bool, message string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		if wrong() {
			return Usage(c, message)
		}
		return nil
	}
}

// AnyChanged reports whether a flag of the command's own was given.
func AnyChanged(c *cobra.Command, _ []string) error {
	changed := false
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed })
	if !changed {
		return Usage(c, "nothing to set; use at least one flag")
	}
	return nil
}
