//go:build !unix

package health

import "errors"

func freeBytes(string) (int64, error) { return 0, errors.New("not on this system") }
