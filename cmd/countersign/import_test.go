package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestCtrlCEndsAnImportAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "store", "migrate", "up")
	var file strings.Builder
	file.WriteString(shopLines + "no JSON\n")
	for i := range 5000 {
		fmt.Fprintf(&file, `{"type":"purchase","workspace":"ada","item_id":1229,"purchase_code":"c-%d","license_type":"Regular","price":1,"currency":"EUR","date":"2024-04-27T12:00:00Z"}`+"\n", i)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	code := run(ctx, []string{"store", "import", "--skip-bad", writeFile(t, file.String())}, environment{envData: dir}.lookup,
		strings.NewReader(""), &out, cancelAt{"line 5:", cancel})
	expect.Equalf(t, code, cli.ExitInterrupted, "exit")
	if r := mustRun(t, dir, "store", "export"); r.out != "" {
		t.Errorf("the store holds %s", r.out)
	}
}

func TestRejectedLinesThatCanNotBeKeptAreStillTold(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), writeFile(t, shopLines+"no JSON\n")
	// A folder with something in it can't be removed to make place for the file.
	must.Do(t, os.MkdirAll(file+".rejected.jsonl/x", 0o700))
	if r := command(t, dir, "store", "import", file); r.code != cli.ExitFailed || !strings.Contains(r.err, "can't be removed") {
		t.Errorf("exit %d, %q", r.code, r.err)
	}
}

func TestProgressIsALineEveryFewSecondsWithoutATerminal(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	now := fixedNow()
	a := &app{Console: cli.New(environment{}.lookup, strings.NewReader(""), &stderr, &stderr)}
	a.Now = func() time.Time { return now }
	p, read := a.readingProgress(2000)
	for _, bytes := range []int64{100, 500, 1000, 1500, 2000} {
		now = now.Add(3 * time.Second)
		read(bytes)
	}
	p.clear()
	if want := "read 25 % of 2,000 bytes\nread 75 % of 2,000 bytes\nread all, writing\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr.String(), want)
	}
}

func TestABarOnATerminalMakesRoomForBadLines(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	a := &app{Console: cli.New(environment{"TERM": "xterm"}.lookup, strings.NewReader(""), &stderr, &stderr)}
	a.Err.Width = 80
	p, read := a.readingProgress(2000)
	read(500)
	drawn := stderr.String()
	p.clear()
	if !strings.Contains(drawn, "25%") || !strings.HasSuffix(stderr.String(), "\r") {
		t.Errorf("drawn %q, then %q", drawn, strings.TrimPrefix(stderr.String(), drawn))
	}
}
