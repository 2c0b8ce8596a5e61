package sqldb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	process "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// This test binary is also the program that is killed: it commits on the database that
// the environment names, and waits.
func TestMain(m *testing.M) {
	if path := os.Getenv("SQLDB_TEST_COMMIT"); path != "" {
		if err := commitAndWait(path); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1)
	}
	dbtest.Setup()
	os.Exit(m.Run())
}

func commitAndWait(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Options{Path: path, Log: slog.Default()})
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	for i := range 10 {
		if err := writeMeta(ctx, db, fmt.Sprint("of the killed one ", i)); err != nil {
			return err
		}
	}
	db.lastCommits()
	fmt.Println("waiting")
	select {}
}

func writeMeta(ctx context.Context, db *DB, name string) error {
	return db.Tx(ctx, func(q Queries) error { return q.SetMeta(ctx, name, "x") })
}

// killedAfterCommits is the path of a database whose process was killed after ten
// commits; they are in its write-ahead log alone.
func killedAfterCommits(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	cmd := process.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), "SQLDB_TEST_COMMIT="+path), os.Stderr
	output := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	said, _ := bufio.NewReader(output).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if said != "waiting\n" {
		t.Fatalf("it said %q", said)
	}
	return path
}

func openAt(t *testing.T, path string) *DB {
	t.Helper()
	db := must.Get(Open(t.Context(), Options{Path: path}))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func recordedAt(t *testing.T, path string) int64 {
	t.Helper()
	return must.Get(readCommits(CommitFile(path)))(t)
}

func TestLostLogIsTold(t *testing.T) {
	cases := []struct {
		name    string
		spoil   func(t *testing.T, log string)
		missing func(int64) bool
	}{
		{"a log that is there", func(*testing.T, string) {}, func(n int64) bool { return n == 0 }},
		{"a log that was removed", func(t *testing.T, log string) {
			must.Do(t, os.Remove(log))
		}, func(n int64) bool { return n == 10 }},
		{"a log that was cut", func(t *testing.T, log string) {
			info := must.Get(os.Stat(log))(t)
			must.Do(t, os.Truncate(log, info.Size()-3*pageBytes))
		}, func(n int64) bool { return n > 0 && n < 10 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := killedAfterCommits(t)
			c.spoil(t, path+"-wal")
			db := openAt(t, path)
			if missing := db.MissingCommits(); !c.missing(missing) {
				t.Errorf("%d commits are missing", missing)
			}
		})
	}
}

func TestDatabaseThatIsBehindIsReadAndNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path)
	must.Do(t, errors.Join(db.Migrate(t.Context()), writeMeta(t.Context(), db, "one"), db.Close()))
	must.Do(t, raiseCommits(CommitFile(path), 8))
	db = openAt(t, path)
	for name, err := range map[string]error{
		"Behind": db.Behind(), "a transaction": writeMeta(t.Context(), db, "two"), "a migration": db.Migrate(t.Context()),
	} {
		apiErr, ok := errors.AsType[*countersign.Error](err)
		if !ok || apiErr.Kind != countersign.KindConflict || apiErr.Code != CodeBehind || !strings.Contains(apiErr.Message, "the last 7 commits") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if value, err := db.Queries().Meta(t.Context(), "one"); value != "x" || err != nil {
		t.Errorf("read %q, %v", value, err)
	}
	db.AcceptLoss()
	must.Do(t, errors.Join(writeMeta(t.Context(), db, "two"), db.Close()))
	if n := recordedAt(t, path); n != 9 {
		t.Errorf("the file holds %d after the loss was accepted, want 9", n)
	}
	expect.NoError(t, openAt(t, path).Behind())
}

func TestOnlyCommitsThatWriteAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path)
	must.Do(t, db.Migrate(t.Context()))
	refused := errors.New("refused")
	for name, one := range map[string]struct {
		do   func(q Queries) error
		want int64
	}{
		"a transaction that reads": {func(q Queries) error { _, err := q.Meta(t.Context(), "one"); return err }, 0},
		"one that changes no row": {func(q Queries) error {
			_, err := q.Exec(t.Context(), `DELETE FROM meta WHERE name = $1`, "no")
			return err
		}, 0},
		"one that is rolled back": {func(q Queries) error { return errors.Join(refused, q.SetMeta(t.Context(), "one", "x")) }, 0},
		"one that writes":         {func(q Queries) error { return q.SetMeta(t.Context(), "one", "x") }, 1},
		"one that writes and returns what it wrote": {func(q Queries) error {
			_, err := One(t.Context(), q, Value[string], `UPDATE meta SET value = $1 WHERE name = 'one' RETURNING value`, "y")
			return err
		}, 1},
	} {
		if name == "one that writes and returns what it wrote" {
			must.Do(t, writeMeta(t.Context(), db, "one"))
		}
		before, _ := One(t.Context(), db.Queries(), Value[int64], readCommitNo)
		if err := db.Tx(t.Context(), one.do); err != nil && !errors.Is(err, refused) {
			t.Fatal(name, err)
		}
		after, _ := One(t.Context(), db.Queries(), Value[int64], readCommitNo)
		expect.Equalf(t, after-before, one.want, "%s counts", name)
	}
}

// Two processes on one database write one file.
func TestOlderNumberDoesNotReplaceANewerOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.commits")
	for _, step := range []struct{ number, want int64 }{{5, 5}, {3, 5}, {7, 7}} {
		must.Do(t, raiseCommits(path, step.number))
		if n, err := readCommits(path); n != step.want || err != nil {
			t.Errorf("after %d the file holds %d, %v; want %d", step.number, n, err, step.want)
		}
	}
	wantPrivate(t, path)
}

func TestCommitFileThatSaysNothing(t *testing.T) {
	for content, want := range map[string]bool{"": true, "00000000000000000012\n": true, "nonsense": false, "-3": false} {
		path := filepath.Join(t.TempDir(), "x.db")
		db := openAt(t, path)
		must.Do(t, errors.Join(db.Migrate(t.Context()), db.Close(), os.WriteFile(CommitFile(path), []byte(content), 0o600)))
		if _, err := readCommits(CommitFile(path)); (err == nil) != want {
			t.Errorf("%q: %v", content, err)
		}
		again := openAt(t, path)
		if missing := again.MissingCommits(); (missing > 0) != (len(content) > 10) {
			t.Errorf("%q: %d commits are missing", content, missing)
		}
		if err := again.CommitsCompared(); (err == nil) != want {
			t.Errorf("%q: compared: %v", content, err)
		}
	}
}

func TestCommitFileThatSaysNothingIsWrittenAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.commits")
	must.Do(t, errors.Join(os.WriteFile(path, []byte("something that is longer than a number"), 0o600), raiseCommits(path, 12)))
	if n, err := readCommits(path); n != 12 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestCommitFileIsNotWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	must.Do(t, errors.Join(os.WriteFile(target, []byte("kept"), 0o600), os.Symlink(target, filepath.Join(dir, "x.commits"))))
	if err := raiseCommits(filepath.Join(dir, "x.commits"), 3); err == nil {
		t.Error("no error")
	}
	if text, err := os.ReadFile(target); string(text) != "kept" || err != nil {
		t.Errorf("the target holds %q, %v", text, err)
	}
}

// While a server runs, the file is at most a second old.
func TestCommitFileFollowsTheCommits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		db := openAt(t, path)
		must.Do(t, db.Migrate(t.Context()))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); db.KeepCommits(ctx) }()
		for i := range 3 {
			must.Do(t, writeMeta(ctx, db, fmt.Sprint(i)))
			time.Sleep(commitsInterval) // of the bubble's clock
			synctest.Wait()
			expect.Equalf(t, recordedAt(t, path), int64(i+1), "after %d commits and a second the file holds", i+1)
		}
		stop()
		<-ended
	})
}

func TestCommitFileOfAnotherDatabaseIsLeftAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(folder, "x.db")
	must.Do(t, os.Mkdir(folder, 0o700))
	db := openAt(t, path)
	must.Do(t, errors.Join(db.Migrate(t.Context()), writeMeta(t.Context(), db, "one"), db.Close()))
	backup, before := folder+".backup", recordedAt(t, path)
	must.Do(t, os.CopyFS(backup, os.DirFS(folder)))

	db = openAt(t, path)
	must.Do(t, errors.Join(writeMeta(t.Context(), db, "two"), db.Ping(t.Context()), os.Rename(folder, folder+".bad"), os.Rename(backup, folder)))
	_ = db.Close() // which writes the number, if it writes it at all
	expect.Equalf(t, recordedAt(t, path), before, "the file beside the restored backup says")
	if missing := openAt(t, path).MissingCommits(); missing != 0 {
		t.Errorf("the restored backup lacks %d commits", missing)
	}
}
