package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign/license"
	"github.com/spf13/cobra"
)

// maxKeySet is the longest answer that is read as a key set, in bytes.
const maxKeySet = 64 << 10

// readKeySet reads the key set that --jwks names.
func (a *app) readKeySet(c *cobra.Command) (*license.KeySet, error) {
	from, err := a.setting(c, "jwks", envKeySet)
	var text []byte
	switch {
	case err != nil:
		return nil, err
	case from == "":
		return nil, usage(c, "--jwks is missing: a license is judged by the public keys of its store; name a file, or https://STORE/.well-known/jwks.json")
	case strings.Contains(from, "://"):
		text, err = a.fetchKeySet(c.Context(), from)
	default:
		text, err = readFile(from, "key set")
	}
	if err != nil {
		return nil, err
	}
	return license.ReadKeySet(text)
}

func (a *app) fetchKeySet(ctx context.Context, address string) ([]byte, error) {
	where, err := url.Parse(address)
	if err != nil || where.Scheme != "https" && where.Scheme != "http" || where.Host == "" {
		return nil, fail(exitUsage, "usage", "--jwks is neither a file nor an address that begins with https://; name one of them")
	}
	if where.Scheme == "http" && !license.IsFree(where.Hostname()) {
		a.warn("the keys come over http, where anybody on the way can put in their own; take https, or a file that you trust")
	}
	text, err := download(ctx, address, maxKeySet)
	if err != nil && ctx.Err() == nil {
		return nil, fail(exitUnreachable, "key_set_unreadable", fmt.Sprintf("the key set can't be read from %s (%v); try again, or save it to a file and name that with --jwks", where.Redacted(), err))
	}
	return text, err
}

// download reads an answer that must be 200 and no longer than limit.
func download(ctx context.Context, address string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %d", r.StatusCode)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("the answer is longer than %d bytes", limit)
	}
	return text, nil
}

// readFile reads a small file that a flag names; what says what it is.
func readFile(path, what string) ([]byte, error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, fail(exitNotFound, "file_not_found", fmt.Sprintf("no such %s file: %s; check its name", what, path))
	}
	var text []byte
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	}
	switch {
	case err != nil:
		return nil, fail(exitFailed, "file_unreadable", fmt.Sprintf("the %s file %s can't be read (%v); make it readable for this user", what, path, reason(err)))
	case len(text) > maxFile:
		return nil, fail(exitFailed, "file_too_large", fmt.Sprintf("%s is far too long for a %s; check its name", path, what))
	}
	return text, nil
}

// maxFile is the longest small file, in bytes.
const maxFile = 1 << 20
