package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/bench/program"
)

const (
	// backupPurchases is how many purchases are backed up, unless --purchases says so.
	backupPurchases = 10_000_000
	// backupRate is how many codes are validated in a second, and writeEvery how often a license is
	// issued beside them.
	backupRate = 1000
	writeEvery = 100 * time.Millisecond
	// backupTurn is the shortest measurement; shorter backups are repeated.
	backupTurn = 30 * time.Second
	// backupCost is the highest ratio of the processor time of a validation beside a backup.
	backupCost = 1.1
	// longestWrite is how long a write may take beside a backup.
	longestWrite = time.Second
)

// backedUp is what a backup costs the validations beside it, and what was restored from it.
type backedUp struct {
	Engine    string        `json:"engine"`
	Purchases int           `json:"purchases"`
	Without   besideBackup  `json:"without"`
	With      besideBackup  `json:"with"`
	Backups   int           `json:"backups"`
	Took      time.Duration `json:"backup_ns"`
	Size      int64         `json:"backup_bytes"`
	Restored  time.Duration `json:"restore_ns"`
	// Exported and Again are the SHA-256 of the export of the store, and of the restored one.
	Exported string `json:"exported"`
	Again    string `json:"exported_again"`
}

// besideBackup is what requests cost for some time.
type besideBackup struct {
	Length      time.Duration `json:"length_ns"`
	Validations int           `json:"validations"`
	// CPU is the server's processor time in all, writes included.
	CPU time.Duration `json:"cpu_ns"`
	P99 time.Duration `json:"p99_ns"`
	// Writes and Longest are the licenses issued, and the longest time that one took.
	Writes  int           `json:"writes"`
	Longest time.Duration `json:"longest_write_ns"`
	Stolen  float64       `json:"stolen"`
}

// each is the processor time of a validation.
func (b besideBackup) each() time.Duration { return b.CPU / time.Duration(max(1, b.Validations)) }

// add adds another measurement of the same kind.
func (b *besideBackup) add(other besideBackup) {
	whole := b.Length + other.Length
	b.Stolen = (b.Stolen*b.Length.Seconds() + other.Stolen*other.Length.Seconds()) / max(1, whole.Seconds())
	b.Length, b.Validations, b.CPU, b.Writes = whole, b.Validations+other.Validations, b.CPU+other.CPU, b.Writes+other.Writes
	b.P99, b.Longest = max(b.P99, other.P99), max(b.Longest, other.Longest)
}

// measureBackup measures validations without a backup, beside one, and without one again.
func (s *shop) measureBackup(ctx context.Context, log io.Writer) (backedUp, error) {
	r := backedUp{Engine: s.settings.engine(), Purchases: s.settings.purchases}
	server, err := s.serve(ctx)
	if err != nil {
		return r, err
	}
	defer server.stop()
	pause := func(ctx context.Context) error {
		program.Pause(ctx, s.settings.turn)
		return ctx.Err()
	}
	if _, err := s.beside(ctx, server, pause); err != nil { // warms up
		return r, err
	}
	for _, during := range []func(context.Context) error{pause, nil, pause} {
		into := &r.Without
		if during == nil {
			into, during = &r.With, func(ctx context.Context) error { return r.backUp(ctx, s) }
		}
		one, err := s.beside(ctx, server, during)
		if err != nil {
			return r, err
		}
		into.add(one)
		fmt.Fprintf(log, "%d validations in %s: %s each\n", one.Validations, one.Length.Round(time.Second), one.each())
	}
	return r, r.restore(ctx, s, log)
}

// beside sends requests for as long as during takes, and says what they cost.
func (s *shop) beside(ctx context.Context, server *process, during func(context.Context) error) (b besideBackup, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	before, err := usageOf(server.command.Process.Pid)
	if err != nil {
		return b, err
	}
	machine, err := readMachineTime()
	if err != nil {
		return b, err
	}
	work := make(chan error, 2)
	writes := writeLoad{purchases: s.settings.purchases}
	var validations load
	go func() {
		var err error
		validations, err = generate(ctx, server.address, connections/4, forever, paced(ctx, zipf(min(s.settings.purchases, 100_000))), true)
		work <- err
	}()
	go func() { work <- writes.send(ctx, server.address) }()
	began := time.Now()
	err = during(ctx)
	b.Length = time.Since(began)
	after, noUsage := usageOf(server.command.Process.Pid)
	machineAfter, noTime := readMachineTime()
	stop()
	err = errors.Join(err, <-work, <-work, noUsage, noTime)
	b.Validations, b.CPU, b.Stolen = validations.requests, after.cpu-before.cpu, machineAfter.stolenSince(machine)
	b.Writes, b.Longest = writes.count, writes.longest
	if len(validations.latencies) > 0 {
		b.P99 = quantile(validations.latencies, 0.99)
	}
	return b, err
}

// forever is the length of a turn that its context ends.
const forever = 24 * time.Hour

// paced hands out requests at backupRate, whether or not the earlier ones have ended.
func paced(ctx context.Context, next func(*rand.Rand) request) func(*rand.Rand) (request, bool) {
	began := time.Now()
	var sent atomic.Int64
	return func(r *rand.Rand) (request, bool) {
		due := began.Add(time.Duration(sent.Add(1)) * time.Second / backupRate)
		program.Pause(ctx, time.Until(due))
		return next(r), ctx.Err() == nil
	}
}

// writeLoad issues licenses, one after the other.
type writeLoad struct {
	purchases int
	count     int
	longest   time.Duration
}

func (w *writeLoad) send(ctx context.Context, address string) error {
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		began := time.Now()
		if _, err := answerOf(address, issue(random, w.purchases)); err != nil {
			return fmt.Errorf("a write beside the backup: %w", err)
		}
		w.longest = max(w.longest, time.Since(began))
		w.count++
	}
}

// backUp writes backups, one after the other, for as long as a measurement takes at least.
func (r *backedUp) backUp(ctx context.Context, s *shop) error {
	for began := time.Now(); r.Backups == 0 || time.Since(began) < s.settings.turn; r.Backups++ {
		one := time.Now()
		made, err := s.createBackup(ctx)
		if err != nil {
			return err
		}
		r.Took, r.Size = time.Since(one), made.Size
	}
	return nil
}

// createdBackup is what the command says of a new backup.
type createdBackup struct {
	File string `json:"file"`
	Size int64  `json:"size"`
}

// createBackup writes a backup in place of the one before.
func (s *shop) createBackup(ctx context.Context) (made createdBackup, err error) {
	file := filepath.Join(s.settings.out, "one.backup")
	if err := os.RemoveAll(file); err != nil {
		return made, err
	}
	said, err := s.program(ctx, append([]string{"store", "backup", "create", "--with-key-file", "--json", "--out", file}, s.flags()...)...)
	if err != nil {
		return made, err
	}
	return made, json.Unmarshal(said, &made)
}

// restore makes one more backup, of a store that is only read, restores it into a SQLite file, and
// exports both.
func (r *backedUp) restore(ctx context.Context, s *shop, log io.Writer) (err error) {
	made, err := s.createBackup(ctx)
	if err != nil {
		return err
	}
	copied := s.at(filepath.Join(s.settings.out, "restored"), "")
	if err := os.RemoveAll(copied.data); err != nil {
		return err
	}
	began := time.Now()
	if err := copied.command(ctx, "store", "backup", "restore", made.File, "--yes", "--quiet"); err != nil {
		return err
	}
	r.Restored = time.Since(began)
	fmt.Fprintf(log, "restored in %s; exporting both\n", r.Restored.Round(time.Second))
	if r.Exported, _, err = s.export(ctx); err == nil {
		r.Again, _, err = copied.export(ctx)
	}
	return errors.Join(err, os.RemoveAll(copied.data), os.Remove(made.File))
}

// ratio is how much more a validation costs beside a backup.
func (r backedUp) ratio() float64 {
	return float64(r.With.each()) / max(1, float64(r.Without.each()))
}

func (r backedUp) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, %d purchases: a backup in %s, %.1f MB (%d of them), restored in %s\n", r.Engine, r.Purchases, r.Took.Round(time.Second/10), float64(r.Size)/megabyte, r.Backups, r.Restored.Round(time.Second/10))
	w := newTable(out)
	fmt.Fprintln(w, "\tvalidations a second\tprocessor µs each\tp99 ms\twrites\tlongest ms\tstolen %\t")
	for i, b := range []besideBackup{r.Without, r.With} {
		name := [...]string{"without a backup", "beside it"}[i]
		fmt.Fprintf(w, "%s\t%.0f\t%.1f\t%.1f\t%d\t%.0f\t%.0f\t\n", name, b.perSecond(), microseconds(b.each()), milliseconds(b.P99), b.Writes, milliseconds(b.Longest), 100*b.Stolen)
	}
	_ = w.Flush()
	fmt.Fprintf(out, "ratio %.3f (at most %.2f); SHA-256 of the export %.16s…, of the restored copy's %.16s…\n", r.ratio(), backupCost, r.Exported, r.Again)
}

func (b besideBackup) perSecond() float64 { return float64(b.Validations) / max(1, b.Length.Seconds()) }

func (r backedUp) missed() error {
	var all []error
	if r.ratio() > backupCost {
		all = append(all, fmt.Errorf("a validation beside a backup costs %.3f times the processor time, at most %.2f", r.ratio(), backupCost))
	}
	for _, b := range []besideBackup{r.With, r.Without} {
		if b.perSecond() < 0.98*backupRate {
			all = append(all, fmt.Errorf("%.0f validations a second, %d expected", b.perSecond(), backupRate))
		}
	}
	if r.With.Longest > longestWrite || r.With.Writes == 0 {
		all = append(all, fmt.Errorf("of %d writes beside a backup, one took %s, at most %s", r.With.Writes, r.With.Longest, longestWrite))
	}
	if r.Exported == "" || r.Exported != r.Again {
		all = append(all, errors.New("the restored copy exports other bytes than the store"))
	}
	return errors.Join(all...)
}
