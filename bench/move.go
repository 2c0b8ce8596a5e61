package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/sample"
)

const (
	// purchasesPerLicense is how many purchases of a moved store have one license.
	purchasesPerLicense = 10
	// movedPeople is how many users and keys a moved store has, beside the keys of its lines.
	movedPeople = 5
	// movedDatabase is the database on the harness's own server.
	movedDatabase = "bench_move"
)

// moved is what it takes to move a store from SQLite to PostgreSQL and back.
type moved struct {
	Purchases int    `json:"purchases"`
	Licenses  int    `json:"licenses"`
	Items     int    `json:"items"`
	Moves     []move `json:"moves"`
	// Size is that of the export, in bytes.
	Size int64 `json:"export_bytes"`
	// Different names what a database has in another way than the first one.
	Different []string `json:"different,omitempty"`
}

// move is one move.
type move struct {
	From string        `json:"from"`
	To   string        `json:"to"`
	Rows int64         `json:"rows"`
	Took time.Duration `json:"took_ns"`
	// CPU is the processor time of the command, without PostgreSQL's.
	CPU time.Duration `json:"cpu_ns"`
}

// measureMove fills a new store on SQLite, moves it to PostgreSQL, and from there into another
// data folder, and compares all three databases.
func (s *shop) measureMove(ctx context.Context, log io.Writer) (r moved, err error) {
	r = moved{Purchases: s.settings.purchases, Licenses: s.settings.purchases / purchasesPerLicense, Items: s.settings.items}
	postgres, err := s.emptyPostgres(ctx)
	if err != nil {
		return r, err
	}
	defer postgres.stop()
	if err := s.fillForMove(ctx, r.Licenses, log); err != nil {
		return r, err
	}
	back, err := s.loneKeyFile(ctx)
	if err != nil {
		return r, err
	}
	want, err := s.content(ctx)
	if err != nil {
		return r, err
	}
	r.Size = want.size
	for _, one := range []struct {
		from *shop
		to   string
		then *shop
	}{
		{s, postgres.address, s.at(s.data, postgres.address)},
		{s.at(back, postgres.address), "sqlite", s.at(back, "")},
	} {
		m, err := one.from.move(ctx, one.to)
		if err != nil {
			return r, err
		}
		fmt.Fprintf(log, "moved %d rows to %s in %s; comparing\n", m.Rows, m.To, m.Took.Round(time.Second))
		got, err := one.then.content(ctx)
		if err != nil {
			return r, err
		}
		r.Moves, r.Different = append(r.Moves, m), append(r.Different, want.differences(got, m.To)...)
	}
	return r, os.RemoveAll(back)
}

// fillForMove fills a new store with all that has to be there after a move.
func (s *shop) fillForMove(ctx context.Context, licenses int, log io.Writer) error {
	if err := os.RemoveAll(s.data); err != nil {
		return err
	}
	if err := s.fill(ctx); err != nil {
		return err
	}
	if err := s.fillLicenses(ctx, licenses, log); err != nil {
		return err
	}
	password := filepath.Join(s.data, "password")
	if err := os.WriteFile(password, []byte("a password of the harness"), 0o600); err != nil {
		return err
	}
	for i := range movedPeople {
		if err := errors.Join(
			s.command(ctx, "store", "user", "create", fmt.Sprintf("user%d@shop.example", i), "--password-file", password),
			s.command(ctx, "store", "key", "create", fmt.Sprintf("key%d", i), "--workspace", sample.BigWorkspace),
			s.command(ctx, "store", "purchase", "refund", sample.BigCode(i), "--yes"),
			s.command(ctx, "store", "license", "issue", sample.BigCode(licenses+i), "--domain", "moved.example"),
		); err != nil {
			return err
		}
	}
	return nil
}

// emptyPostgres starts a server with a database that is empty, whose URL is the address.
func (s *shop) emptyPostgres(ctx context.Context) (*process, error) {
	out := filepath.Join(s.settings.out, "move")
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	p, err := start(ctx, "", nil, os.Stderr, "bench/postgres/start", out, movedDatabase)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: %w", err)
	}
	u, err := url.Parse(p.address)
	if err != nil {
		p.stop()
		return nil, err
	}
	u.Path = "/" + movedDatabase
	p.address = u.String()
	return p, nil
}

// loneKeyFile makes a data folder that has the store's key file and nothing else.
func (s *shop) loneKeyFile(ctx context.Context) (dir string, err error) {
	dir = filepath.Join(s.settings.out, "moved-back")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return "", err
	}
	return dir, program.Copy(ctx, filepath.Join(s.data, keyfile.FileName), dir)
}

// move runs the command that moves the store.
func (s *shop) move(ctx context.Context, to string) (m move, err error) {
	c := exec.CommandContext(ctx, s.binary, append([]string{"store", "move", "--to", to, "--json", "--quiet"}, s.flags()...)...)
	c.Stderr = os.Stderr
	began := time.Now()
	said, err := c.Output()
	if err != nil {
		return m, fmt.Errorf("countersign store move: %w", err)
	}
	if err := json.Unmarshal(said, &m); err != nil {
		return m, err
	}
	m.Took, m.CPU = time.Since(began), c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	return m, nil
}

// content is what a store's database has.
type content struct {
	// lists are the outputs of commands, the export's as its SHA-256, by what they list.
	lists map[string]string
	// log is the audit log, the newest entry first.
	log  []byte
	size int64
}

// content reads the audit log first: an export of keys writes an entry.
func (s *shop) content(ctx context.Context) (c content, err error) {
	if err := s.command(ctx, "store", "audit", "verify"); err != nil {
		return c, err
	}
	if c.log, err = s.program(ctx, append([]string{"store", "audit", "export", "--json"}, s.flags()...)...); err != nil {
		return c, err
	}
	sum, size, err := s.export(ctx, "--with-keys")
	if err != nil {
		return c, err
	}
	c.lists, c.size = map[string]string{"export": sum}, size
	for name, command := range map[string][]string{
		"users":        {"user", "list"},
		"keys":         {"key", "list", "--workspace", sample.BigWorkspace},
		"signing keys": {"license-key", "list"},
	} {
		text, err := s.program(ctx, slices.Concat([]string{"store"}, command, []string{"--json"}, s.flags())...)
		if err != nil {
			return c, err
		}
		c.lists[name] = string(text)
	}
	return c, nil
}

// differences names what is different in the database it was moved to.
func (c content) differences(moved content, where string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(c.lists)) {
		if moved.lists[name] != c.lists[name] || c.lists[name] == "" {
			all = append(all, name+" of "+where)
		}
	}
	if len(c.log) == 0 || !bytes.HasSuffix(moved.log, c.log) {
		all = append(all, "audit log of "+where)
	}
	return all
}

func (r moved) print(out io.Writer) {
	fmt.Fprintf(out, "\n%d purchases, %d licenses, %d items, an export of %.1f MB\n", r.Purchases, r.Licenses, r.Items, float64(r.Size)/megabyte)
	w := newTable(out)
	fmt.Fprintln(w, "from\tto\trows\ts\tprocessor s of the command\t")
	for _, m := range r.Moves {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%.1f\t\n", m.From, m.To, m.Rows, m.Took.Seconds(), m.CPU.Seconds())
	}
	_ = w.Flush()
	if len(r.Different) == 0 {
		fmt.Fprintln(out, "exports, users, keys, signing keys and audit logs are the same")
	}
}

func (r moved) missed() error {
	if len(r.Different) > 0 {
		return fmt.Errorf("not the same as before: %s", strings.Join(r.Different, ", "))
	}
	return nil
}
