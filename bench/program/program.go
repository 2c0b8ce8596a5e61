// Package program builds the program that bench and bench/chaos try, reads what it says
// at its start, and finds processes.
package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Build builds countersign from this source, without a C compiler. What the compiler says
// is written to log.
func Build(ctx context.Context, path string, log io.Writer) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/countersign")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stderr = log
	if err := c.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

// Address returns the address in the JSON line that a server prints at its start. member
// is store_url or addon_url; without one, the line is the address.
func Address(member, line string) (string, error) {
	if member == "" {
		return line, nil
	}
	var said map[string]any
	err := json.Unmarshal([]byte(line), &said)
	url, _ := said[member].(string)
	return url, err
}

// Copy copies a folder with its owners, without a copy of the bytes where the file system
// can.
func Copy(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

// Pause waits for a time, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
