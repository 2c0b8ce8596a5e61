package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// CodeNotMoved is the code of the error of a move that a database that did not answer, or a full disk,
// ended.
const CodeNotMoved = "not_moved"

// The steps of a move.
const (
	StepCopy   = "copy"
	StepVerify = "verify"
)

// MoveOptions say where a database is moved to.
type MoveOptions struct {
	// URL is that of a PostgreSQL database, "" for a SQLite file in the data folder.
	URL string
	// Progress is told how many rows of a step are done; nil for nobody.
	Progress func(step string, done, total int64)
	// Reached is told of each step: copied, verified, recorded, done; nil for nobody.
	Reached func(step string)
	// Record writes the move into the new database, in the transaction that fills it.
	Record func(ctx context.Context, to *sqldb.DB, m Moved) error
}

// Moved is what a move copied.
type Moved struct {
	From, To sqldb.Engine
	Tables   []MovedTable
}

// MovedTable is a table that both databases have with the same rows.
type MovedTable struct {
	Name string
	Sum
}

// Rows is the number of rows in all tables.
func (m Moved) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Count
	}
	return n
}

// Move copies all rows of an open database, as they are, into an empty one on either engine, and
// compares what is there with what was read. Nobody can write the database meanwhile, and it is not
// changed. The caller has the lock of the data folder.
//
// It is all or nothing: until the end, the new database stays empty, also when the process is killed.
func (s *Service) Move(ctx context.Context, db *sqldb.DB, o MoveOptions) (Moved, error) {
	if err := db.Behind(); err != nil {
		return Moved{}, err
	}
	to := s.Database
	to.URL, to.NoCreate, to.Lock = o.URL, false, nil
	m := &move{options: o, moved: Moved{From: db.Engine(), To: sqldb.SQLite}}
	if o.URL != "" {
		m.moved.To = sqldb.Postgres
	}
	err := db.Frozen(ctx, func(c *sqldb.Content) error {
		m.from = c
		return sqldb.Create(ctx, to, sqldb.Build{
			Versions: c.Versions, Sequences: c.Sequences,
			Fill:   func(l sqldb.Load) error { return m.fill(ctx, l) },
			Finish: func(built *sqldb.DB) error { return m.finish(ctx, built) },
		})
	})
	if fault.HasCode(err, countersign.CodeUnavailable) || fault.HasCode(err, sqldb.CodeFull) {
		err = fault.WithCause(fault.Unavailable(CodeNotMoved, "Nothing was moved: "+fault.Of(err).Message), err)
	}
	if err == nil {
		m.reached("done")
	}
	return m.moved, err
}

// move is a move under way.
type move struct {
	options MoveOptions
	from    *sqldb.Content
	moved   Moved

	step        string
	done, total int64
}

// fill copies all tables, and then compares them.
func (m *move) fill(ctx context.Context, l sqldb.Load) error {
	empty, err := l.Content(ctx)
	if err != nil {
		return err
	}
	if err := sameTables(empty.Tables, m.from.Tables); err != nil {
		return err
	}
	if err := m.count(ctx); err != nil {
		return err
	}
	m.begin(StepCopy)
	for _, t := range m.from.Tables {
		one := MovedTable{Name: t.Name}
		if err := m.copyTable(ctx, l, t, &one.Sum); err != nil {
			return err
		}
		m.moved.Tables = append(m.moved.Tables, one)
	}
	m.reached("copied")
	if err := m.verify(ctx, l); err != nil {
		return err
	}
	m.reached("verified")
	return nil
}

// count counts all rows, for the progress.
func (m *move) count(ctx context.Context) error {
	for _, t := range m.from.Tables {
		n, err := m.from.Count(ctx, t)
		if err != nil {
			return err
		}
		m.total += n
	}
	return nil
}

// copyTable copies the rows of a table and adds them up.
func (m *move) copyTable(ctx context.Context, l sqldb.Load, t sqldb.Table, sum *Sum) error {
	next, stop := iter.Pull2(rowsOf(ctx, m.from, t))
	defer stop()
	var line []byte
	return l.Table(ctx, t, func() ([]any, error) {
		values, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		if line, err = appendRow(line[:0], values); err != nil {
			return nil, err
		}
		sum.add(sha256.Sum256(line))
		m.tell()
		return values, nil
	})
}

// rowsOf are the rows of a table. The last one may come with an error.
func rowsOf(ctx context.Context, c *sqldb.Content, t sqldb.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		enough := errors.New("no more rows are wanted")
		err := c.Rows(ctx, t, func(values []any) error {
			if !yield(values, nil) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			yield(nil, err)
		}
	}
}

// verify reads all tables back.
func (m *move) verify(ctx context.Context, l sqldb.Load) error {
	c, err := l.Content(ctx)
	if err != nil {
		return err
	}
	m.begin(StepVerify)
	for i, t := range m.from.Tables {
		sum, err := sumTable(ctx, c, t, m.tell)
		if err != nil {
			return err
		}
		if want := m.moved.Tables[i].Sum; sum != want {
			return fmt.Errorf("backup: the table %s has %d rows with another sum than the %d that were copied", t.Name, sum.Count, want.Count)
		}
	}
	return nil
}

// finish records the move in the new database.
func (m *move) finish(ctx context.Context, built *sqldb.DB) error {
	if _, err := m.from.Meta(ctx, keyfile.CheckName); err != nil { // its lock is lost: others may have written
		return err
	}
	if err := m.options.Record(ctx, built, m.moved); err != nil {
		return err
	}
	m.reached("recorded")
	return nil
}

func (m *move) reached(step string) {
	if m.options.Reached != nil {
		m.options.Reached(step)
	}
}

func (m *move) begin(step string) { m.step, m.done = step, 0 }

// progressRows is how many rows are done between two reports of the progress.
const progressRows = 1000

// tell counts a row as done.
func (m *move) tell() {
	m.done++
	if m.options.Progress != nil && (m.done%progressRows == 0 || m.done == m.total) {
		m.options.Progress(m.step, m.done, m.total)
	}
}
