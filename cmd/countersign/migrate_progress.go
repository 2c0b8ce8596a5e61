package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// migrationProgress shows how far a migration is: a bar on a terminal, else line is
// called now and then with the percentage of the rows.
func (a *app) migrationProgress(line func(percent, total int64)) func(done, total int64) {
	var bar *progressbar.ProgressBar
	var last time.Time
	return func(done, total int64) {
		switch now := a.now(); {
		case a.drawsBars():
			if bar == nil {
				bar = a.newBar("migrating", total)
			}
			_ = bar.Set64(done)
		case last.IsZero():
			last = now
		case now.Sub(last) >= progressEvery && done < total:
			last = now
			line(done*100/total, total)
		}
	}
}
