package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Getenv returns the value of a variable, "" for one that is not set.
func (t *Console) Getenv(name string) string {
	value, _ := t.LookupEnv(name)
	return value
}

// Variable is Getenv for a variable of ours. One that is set but empty is an error:
// somebody wanted to say something, and it got lost on the way.
func (t *Console) Variable(name string) (string, error) {
	value, set := t.LookupEnv(name)
	if set && value == "" {
		return "", usageError(name + " is set but empty; give it a value, or take it out of the environment")
	}
	return value, nil
}

// Setting returns what a flag says, else its variable, else the flag's default. An empty
// flag or variable is an error.
func (t *Console) Setting(c *cobra.Command, flag, variable string) (string, error) {
	if c.Flag(flag).Changed {
		return givenFlag(c, flag)
	}
	if value, err := t.Variable(variable); value != "" || err != nil {
		return value, err
	}
	return c.Flag(flag).Value.String(), nil
}

// SecretSetting is Setting for a flag whose variable may also be given by a file.
func (t *Console) SecretSetting(c *cobra.Command, flag, variable string) (string, error) {
	if c.Flag(flag).Changed {
		return givenFlag(c, flag)
	}
	return t.Secret(variable)
}

// givenFlag is the value of a flag that was given, which may not be empty.
func givenFlag(c *cobra.Command, flag string) (string, error) {
	value := c.Flag(flag).Value.String()
	if value == "" {
		return "", Usage(c, "--"+flag+" is empty; give it a value, or leave it out")
	}
	return value, nil
}

// Secret reads a variable that may also be given by a file, which the variable with _FILE names.
func (t *Console) Secret(variable string) (string, error) {
	value, err := t.Variable(variable)
	if err != nil {
		return "", err
	}
	path, err := t.Variable(variable + "_FILE")
	switch {
	case path == "" || err != nil:
		return value, err
	case value != "":
		return "", usageError(fmt.Sprintf("%s and %s_FILE are both set; take one of them out of the environment", variable, variable))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", usageError(fmt.Sprintf("%s_FILE: %s can't be read (%v); name a file that this user can read", variable, path, Reason(err)))
	}
	if value = strings.TrimRight(string(text), "\r\n"); strings.TrimSpace(value) == "" {
		return "", usageError(fmt.Sprintf("%s_FILE: %s is empty; write the value into it, or take the variable out of the environment", variable, path))
	}
	return value, nil
}
