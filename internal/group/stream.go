package group

import (
	"context"
	"io"
)

// Reader reads from another reader until ctx ends. Then it returns the error of ctx.
func Reader(ctx context.Context, from io.Reader) io.Reader { return reader{ctx, from} }

type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// Writer writes to another writer until ctx ends. Then it returns the error of ctx.
func Writer(ctx context.Context, to io.Writer) io.Writer { return writer{ctx, to} }

type writer struct {
	ctx context.Context
	to  io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}
