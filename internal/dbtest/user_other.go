//go:build !unix

package dbtest

import (
	"errors"
	"os/exec"
)

func runAs(*exec.Cmd, string) error {
	return errors.New("a private server needs a Unix system; set COUNTERSIGN_TEST_POSTGRES")
}

func cache() string { return "" }
