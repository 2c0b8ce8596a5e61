package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
)

func TestAnInterruptedCommandWhoseCommitWaits(t *testing.T) {
	t.Parallel()
	db := dbtest.Alone(t)
	env := environment{envData: db.Dir, envDB: db.URL}
	if r := commandIn(t, env, "store", "import", writeFile(t, shopLines)); r.code != 0 {
		t.Fatal(r.err)
	}
	db.HoldCommits(t)
	ctx, interrupt := context.WithCancel(t.Context())
	var stdout, stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"store", "purchase", "create", "--workspace", "ada", "--item", "1229"}, env.lookup, strings.NewReader(""), &stdout, &stderr)
	}()
	db.AwaitHeldCommits(t, 1)
	interrupt()
	if got := <-code; got != cli.ExitUnknown || !strings.Contains(stderr.String(), "it may have been written; before you repeat it, check with: countersign store purchase list") {
		t.Errorf("exit %d, %q", got, stderr.String())
	}
	if n := db.HeldCommits(t); n != 1 {
		t.Errorf("%d commits wait, want 1: it was called off", n)
	}
	db.ReleaseCommits(t)
}
