package cli

import (
	"context"
	"fmt"
	"io"
	"os"
)

// maxFile is the longest small file, in bytes.
const maxFile = 1 << 20

// ReadInput reads a small file, or stdin for "-". what says what it is, next what to do when stdin can't be read.
func (t *Console) ReadInput(path, what, next string) ([]byte, error) {
	if path != "-" {
		return ReadFile(path, what)
	}
	text, err := io.ReadAll(io.LimitReader(t.In, maxFile))
	return text, inputError(context.Background(), err, what, next)
}

// inputError is the error of input that could not be read, err itself once ctx has ended.
func inputError(ctx context.Context, err error, what, next string) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return Fail(ExitFailed, "input_failed", fmt.Sprintf("the %s can't be read from stdin (%v); %s", what, Reason(err), next))
}

// ReadFile reads a small file that a flag names; what says what it is.
func ReadFile(path, what string) ([]byte, error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, Fail(ExitNotFound, "file_not_found", fmt.Sprintf("no such %s file: %s; check its name", what, path))
	}
	var text []byte
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	}
	switch {
	case err != nil:
		return nil, Fail(ExitFailed, "file_unreadable", fmt.Sprintf("the %s file %s can't be read (%v); make it readable for this user", what, path, Reason(err)))
	case len(text) > maxFile:
		return nil, Fail(ExitFailed, "file_too_large", fmt.Sprintf("%s is far too long for a %s; check its name", path, what))
	}
	return text, nil
}
