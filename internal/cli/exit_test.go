package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign"
	"github.com/spf13/cobra"
)

func TestKindsHaveExitCodes(t *testing.T) {
	for kind, want := range map[countersign.Kind]int{
		countersign.KindInternal: 1, countersign.KindInvalid: 2, countersign.KindNotFound: 3, countersign.KindUnauthorized: 5,
		countersign.KindForbidden: 5, countersign.KindConflict: 6, countersign.KindUnavailable: 7,
	} {
		got, err := failWith(t.Context(), fmt.Errorf("wrapped: %w", &countersign.Error{Kind: kind, Message: "It failed"}))
		if got != want || !strings.HasPrefix(err, "countersign: error: It failed") {
			t.Errorf("%v: exit %d with %q, want %d", kind, got, err, want)
		}
	}
	// A service whose database is damaged is not started again: restarts do not repair it.
	if got, _ := failWith(t.Context(), &countersign.Error{Kind: countersign.KindInternal, Code: "database_damaged"}); got != ExitConflict {
		t.Errorf("a damaged database: exit %d, want %d", got, ExitConflict)
	}
}

func TestOtherErrors(t *testing.T) {
	if code, line := failWith(t.Context(), errors.New("odd")); code != 1 || line != "countersign: error: odd; if it happens again, please report it\n" {
		t.Errorf("an error that nobody foresaw: exit %d, %q", code, line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, line := failWith(ctx, errors.New("sqlite: interrupted")); code != 130 || !strings.Contains(line, "interrupted; unfinished changes were not written") {
		t.Errorf("an error after Ctrl-C: exit %d, %q", code, line)
	}
	if code, line := failWith(ctx, Fail(ExitPartly, "bad_lines", "half of it was written")); code != 8 || !strings.Contains(line, "half") {
		t.Errorf("an error of our own after Ctrl-C: exit %d, %q", code, line)
	}
	if code, line := failWith(t.Context(), Fail(ExitNo, "purchase_refunded", "")); code != 4 || line != "" {
		t.Errorf("an answer that was printed already: exit %d, %q", code, line)
	}
}

func TestACommitThatIsNotConfirmedIsNeverCalledUnwritten(t *testing.T) {
	unknown := &countersign.Error{Kind: countersign.KindUnavailable, Code: countersign.CodeOutcomeUnknown, Message: "It may have been written"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"in time": t.Context(), "after Ctrl-C": ended} {
		t.Run(name, func(t *testing.T) {
			code, line := failWith(ctx, fmt.Errorf("wrapped: %w", unknown))
			if code != ExitUnknown || !strings.Contains(line, "may have been written; before you repeat it, ") {
				t.Errorf("exit %d, %q", code, line)
			}
		})
	}
}

func TestTheLineOfAnError(t *testing.T) {
	dialed := &os.SyscallError{Syscall: "connect", Err: errors.New("connection refused")}
	tests := []struct {
		name string
		err  *countersign.Error
		want string
	}{
		{"the cause comes after our own sentence, without the driver's words",
			&countersign.Error{Kind: countersign.KindUnavailable, Message: "The database can't be reached", Cause: fmt.Errorf("failed to connect to `user=x`: %w", dialed)},
			"The database can't be reached (connection refused); check that the disk"},
		{"a cause of several lines becomes one",
			&countersign.Error{Message: "It failed", Cause: errors.New("first\n\tsecond")}, "It failed (first second)\n"},
		{"a cause that the message tells already is not repeated",
			&countersign.Error{Message: "It can't be made (permission denied)", Cause: &os.PathError{Op: "open", Path: "/x", Err: os.ErrPermission}}, "made (permission denied)\n"},
		{"a full disk is not described twice, and its next step is about room",
			&countersign.Error{Kind: countersign.KindUnavailable, Code: "disk_full", Message: "The disk is full", Cause: errors.New("database or disk is full (13)")},
			"error: The disk is full; make room on it, then try again\n"},
		{"a folder of backups has a next step of its own",
			&countersign.Error{Kind: countersign.KindUnavailable, Code: "backup_folder", Message: "Backups can't be written to /mnt"}, "/mnt; let this user write to it, and check that its disk has room\n"},
		{"a code names the command that helps",
			&countersign.Error{Kind: countersign.KindConflict, Code: "schema_older", Message: "It is old"}, "It is old; run: countersign store migrate up\n"},
		{"what the message does not say is added",
			&countersign.Error{Kind: countersign.KindConflict, Code: "workspace_exists", Message: "It exists"}, "It exists; change it with: countersign store workspace set\n"},
		{"control characters can't reach the terminal",
			&countersign.Error{Message: "no \x1b[2Jsuch\r\nthing"}, `no \u001b[2Jsuch\u000d\nthing` + "\n"},
		{"a password typed in the wrong place is not repeated",
			&countersign.Error{Message: "no file postgres://u:hunter2@h/d"}, "no file postgres://u:***@h/d\n"},
		{"the example of a database URL is",
			&countersign.Error{Message: "write postgres://user:password@host/name"}, "postgres://user:password@host/name\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, line := failWith(t.Context(), tt.err); !strings.Contains(line, tt.want) {
				t.Errorf("%q, want %q", line, tt.want)
			}
		})
	}
}

// failWith is what the program does at its end when a command returned err.
func failWith(ctx context.Context, err error) (code int, stderr string) {
	var out, errs strings.Builder
	unset := func(string) (string, bool) { return "", false }
	code = New(unset, strings.NewReader(""), &out, &errs).fail(ctx, err, nil)
	return code, errs.String()
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestACommandWhoseResultCanNotBePrintedSaysThatItIsDone(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"key create":           {ExitUnknown, "but the change was written; do not repeat it; see the result with: countersign key reveal"},
		"key create --json":    {ExitUnknown, "countersign key reveal"},
		"key create --dry-run": {ExitFailed, "free some space, or write it elsewhere"},
		"key create --out -":   {ExitFailed, "free some space"},
		"key create --out x":   {ExitUnknown, "the change was written"},
		"key set":              {ExitUnknown, "see the result with: countersign key list"},
		"key list":             {ExitFailed, "free some space"},
		"key reveal":           {ExitFailed, "free some space"},
		"key create --help":    {ExitFailed, "free some space"},
		"--version":            {ExitFailed, "free some space"},
		"key schedule":         {ExitFailed, "free some space"},
		"key schedule --out x": {ExitUnknown, "the change was written"},
		"key sign-in-link":     {ExitFailed, "free some space"},
		"move":                 {ExitUnknown, "before you repeat it, check what was written"},
	} {
		var stderr strings.Builder
		console := New(func(string) (string, bool) { return "", false }, strings.NewReader(""), fullDisk{}, &stderr)
		command := func(name string) *cobra.Command {
			c := &cobra.Command{Use: name, RunE: func(*cobra.Command, []string) error { return console.PrintJSON(name) }}
			c.Flags().Bool("dry-run", false, "")
			c.Flags().String("out", "x", "")
			return c
		}
		root := &cobra.Command{Use: "countersign", SilenceErrors: true, SilenceUsage: true, Version: "1"}
		console.Register(root)
		key := &cobra.Command{Use: "key"}
		key.AddCommand(command("create"), command("set"), command("list"), command("reveal"), command("schedule"), command("sign-in-link"))
		root.AddCommand(key, command("move"))
		if code := console.Run(t.Context(), root, strings.Fields(line)); code != want.code || !strings.Contains(stderr.String(), want.says) || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: exit %d, %s", line, code, stderr.String())
		}
	}
}
