// Package cli holds what all commands share: the streams of the program and its environment, tables and cards, questions,
// values of flags, exit codes, and the next step behind an error.
package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Console is one run of the program: what it was started with, and what its global flags say.
type Console struct {
	In       *bufio.Reader
	Out, Err *Stream
	// Person reports whether stdin is a terminal, so that somebody can answer.
	Person    bool
	LookupEnv func(string) (string, bool)
	// Dir is the folder in which relative paths begin, "" for the current folder of the process.
	Dir     string
	Now     func() time.Time
	Service Service
	Flags
	command  *cobra.Command // the one that ran
	keyboard *os.File       // stdin, nil when it is not a terminal
}

// Flags are the flags of every command.
type Flags struct {
	JSON, NoColor, NoInput, Yes, Quiet bool
	// Format is that of a list: json, jsonl or csv, "" for a table.
	Format string
}

// Service is the service that a command works on, for the hints of its errors.
type Service struct {
	Dir      string // its data folder
	Postgres bool
	// Command is what its commands begin with, such as countersign store.
	Command string
	// KeyVariable is the variable that the key comes from, "" for a key file.
	KeyVariable string
}

// New returns the console of a run.
func New(lookupEnv func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) *Console {
	keyboard := terminal(stdin)
	return &Console{
		In: bufio.NewReader(stdin), keyboard: keyboard, Person: keyboard != nil, LookupEnv: lookupEnv, Now: time.Now,
		Out: &Stream{to: stdout, Width: width(stdout)}, Err: &Stream{to: stderr, Width: width(stderr)},
	}
}

// Register adds the global flags.
func (t *Console) Register(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.BoolVar(&t.JSON, "json", false, "print JSON: one object, or for lists one object on each line")
	flags.BoolVar(&t.NoColor, "no-color", false, "print no colours (also NO_COLOR, TERM=dumb)")
	flags.BoolVar(&t.NoInput, "no-input", false, "never ask for input; if input is needed, fail")
	flags.BoolVar(&t.Yes, "yes", false, "answer yes to questions")
	flags.BoolVarP(&t.Quiet, "quiet", "q", false, "print only errors and warnings on stderr")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if t.JSON && t.Format != "" {
			return Usage(c, "use --json or --output, not both")
		}
		return nil
	}
}

// Run runs a command line and returns its exit code.
func (t *Console) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(append([]string{}, args...)) // never nil, for which cobra takes os.Args
	root.SetIn(t.In)
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	groupCompletion(root, args)
	var err error
	t.command, err = root.ExecuteContextC(ctx)
	if failed := t.Out.failure(); failed != nil && (err == nil || err.Error() == "" || errors.Is(err, failed)) { // a check that says no prints why
		err = t.unprinted(failed)
	}
	if err == nil {
		return ExitOK
	}
	return t.fail(ctx, err, args)
}

// Say talks to the person at the terminal, unless --quiet.
func (t *Console) Say(format string, args ...any) {
	if !t.Quiet {
		fmt.Fprintf(t.Err, format+"\n", args...)
	}
}

// Note is Say for what a person misses otherwise, also with --quiet.
func (t *Console) Note(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// Warn is for what must be read, also with --quiet.
func (t *Console) Warn(format string, args ...any) {
	fmt.Fprintf(t.Err, "countersign: warning: "+format+"\n", args...)
}

// Print writes to stdout. A write that fails ends the program with an error.
func (t *Console) Print(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// Done ends a command that has nothing to print but what it did: an object with --json, else a sentence for a person.
func (t *Console) Done(view any, format string, args ...any) error {
	if t.JSON {
		return t.PrintJSON(view)
	}
	t.Say(format, args...)
	return nil
}

// PrintJSON prints one object on a line of its own.
func (t *Console) PrintJSON(v any) error {
	text, err := countersign.EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	_, err = t.Out.Write(append(SafeJSON(text), '\n'))
	return err
}

// terminal is a stream that is a terminal, else nil.
func terminal(stream any) *os.File {
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// width is how many characters fit on a line of a terminal, 0 for what is not a terminal.
func width(stream any) int {
	file := terminal(stream)
	if file == nil {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// Stream is stdout or stderr. Goroutines may share it.
type Stream struct {
	Width  int // of the terminal in characters; 0 when it is not a terminal
	mu     sync.Mutex
	to     io.Writer
	failed error // the first failure
	goesOn bool
	lost   int64 // lines
}

// GoOn makes writes to the stream succeed from now on, and counts the lines that can't be written: a
// server goes on when nobody reads its log any more.
func (s *Stream) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goesOn = true
}

// Lost is how many lines could not be written since [Stream.GoOn].
func (s *Stream) Lost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// IsTerminal reports whether the stream is a terminal.
func (s *Stream) IsTerminal() bool { return s.Width > 0 }

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.to.Write(p)
	if err != nil && s.goesOn {
		s.lost += int64(bytes.Count(p, []byte("\n")))
		return len(p), nil
	}
	if err != nil {
		err = fmt.Errorf("the output can't be written (%w)", fault.FileReason(err))
		if s.failed == nil {
			s.failed = err
		}
	}
	return n, err
}

func (s *Stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// The colours of a verdict.
const (
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
)

// Colour paints text that is printed to a stream, where that may be.
func (t *Console) Colour(on *Stream, code, text string) string {
	if t.Plain() || !on.IsTerminal() {
		return text
	}
	return code + text + "\x1b[0m"
}

// Plain reports whether colours and cursor movements are unwanted.
func (t *Console) Plain() bool {
	return t.NoColor || t.Getenv("NO_COLOR") != "" || t.Getenv("TERM") == "dumb"
}

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
		return "", usageError(name + " is set but empty; set a value, or unset it")
	}
	return value, nil
}

// Path returns where a path that somebody typed leads. Messages print what was typed.
func (t *Console) Path(entered string) string {
	if t.Dir == "" || filepath.IsAbs(entered) {
		return entered
	}
	return filepath.Join(t.Dir, entered)
}

// Setting returns what a flag says, else its variable, else the flag's default. An empty
// flag or variable is an error.
func (t *Console) Setting(c *cobra.Command, flag, variable string) (string, error) {
	return setting(c, flag, variable, t.Variable)
}

// SecretSetting is Setting for a flag whose variable may also be given by a file.
func (t *Console) SecretSetting(c *cobra.Command, flag, variable string) (string, error) {
	return setting(c, flag, variable, t.Secret)
}

func setting(c *cobra.Command, flag, variable string, read func(variable string) (string, error)) (string, error) {
	f := c.Flag(flag)
	switch {
	case f.Changed && f.Value.String() == "":
		return "", Usage(c, "--"+flag+" is empty; set a value, or omit it")
	case f.Changed:
		return f.Value.String(), nil
	}
	if value, err := read(variable); value != "" || err != nil {
		return value, err
	}
	return f.Value.String(), nil
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
		return "", usageError(fmt.Sprintf("%s and %s_FILE are both set; unset one of them", variable, variable))
	}
	text, err := os.ReadFile(t.Path(path))
	if err != nil {
		return "", usageError(fmt.Sprintf("%s_FILE: %s can't be read (%v); name a file that this user can read", variable, path, fault.FileReason(err)))
	}
	if value = strings.TrimRight(string(text), "\r\n"); strings.TrimSpace(value) == "" {
		return "", usageError(fmt.Sprintf("%s_FILE: %s is empty; write the value to it, or unset the variable", variable, path))
	}
	return value, nil
}
