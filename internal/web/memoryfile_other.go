//go:build !linux

package web

import (
	"errors"
	"os"
)

func newMemoryFile() (*os.File, error) { return nil, errors.ErrUnsupported }
