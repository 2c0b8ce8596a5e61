package main

import (
	"strings"
	"testing"
	"time"
)

func TestABackupThatMissesABoundFails(t *testing.T) {
	fine := func() backedUp {
		without := besideBackup{Length: time.Minute, Validations: 60_000, CPU: 6 * time.Second, Writes: 600, Longest: time.Millisecond}
		with := without
		with.CPU = 6600 * time.Millisecond
		return backedUp{Without: without, With: with, Exported: "abc", Again: "abc"}
	}
	for name, c := range map[string]struct {
		change func(*backedUp)
		want   string
	}{
		"all bounds kept":            {func(*backedUp) {}, ""},
		"processor time":             {func(r *backedUp) { r.With.CPU += 10 * time.Millisecond }, "costs 1.10"},
		"rate beside the backup":     {func(r *backedUp) { r.With.Validations = 58_000; r.With.CPU = 0 }, "967 validations a second"},
		"rate without it":            {func(r *backedUp) { r.Without.Validations = 1 }, "0 validations a second"},
		"a slow write":               {func(r *backedUp) { r.With.Longest = 2 * time.Second }, "one took 2s"},
		"no write":                   {func(r *backedUp) { r.With.Writes = 0 }, "of 0 writes"},
		"another export":             {func(r *backedUp) { r.Again = "abd" }, "other bytes"},
		"no export":                  {func(r *backedUp) { r.Exported, r.Again = "", "" }, "other bytes"},
		"a slow write without it is": {func(r *backedUp) { r.Without.Longest = 2 * time.Second }, ""},
	} {
		r := fine()
		c.change(&r)
		if err := r.missed(); (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestMeasurementsOfOneKindAddUp(t *testing.T) {
	b := besideBackup{Length: time.Minute, Validations: 1, CPU: time.Second, P99: 3, Writes: 1, Longest: 5, Stolen: 0.1}
	b.add(besideBackup{Length: 2 * time.Minute, Validations: 2, CPU: time.Second, P99: 2, Writes: 2, Longest: 7, Stolen: 0.4})
	want := besideBackup{Length: 3 * time.Minute, Validations: 3, CPU: 2 * time.Second, P99: 3, Writes: 3, Longest: 7, Stolen: 0.3}
	if b.Stolen = float64(int(b.Stolen*1000+0.5)) / 1000; b != want {
		t.Errorf("%+v, want %+v", b, want)
	}
}
