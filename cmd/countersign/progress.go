package main

import (
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/schollz/progressbar/v3"
)

// progressEvery is how often a line tells how far an import is, where no bar can
// be drawn.
const progressEvery = 5 * time.Second

// progress shows how far an import is: a bar on a terminal, else now and then a
// line.
type progress struct {
	app  *app
	size int64
	bar  *progressbar.ProgressBar // nil where none can be drawn

	last  time.Time // when the last line was printed
	lines int
}

func (a *app) newProgress(size int64) *progress {
	p := &progress{app: a, size: size, last: a.Now()}
	if a.drawsBars() {
		p.bar = a.newBar("reading", size, progressbar.OptionShowBytes(true))
	}
	return p
}

// drawsBars reports whether stderr is a terminal on which a bar can be drawn.
func (a *app) drawsBars() bool { return a.Err.IsTerminal() && !a.Plain() && !a.Quiet }

func (a *app) newBar(description string, size int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(max(size, 1), append(more, progressbar.OptionSetWriter(a.Err),
		progressbar.OptionSetDescription(description), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())...)
}

// read is told how many bytes of the file were read.
func (p *progress) read(bytes int64) {
	if p.bar != nil {
		if bytes >= p.size {
			p.bar.Describe("writing")
		}
		_ = p.bar.Set64(min(bytes, p.bar.GetMax64()-1)) // at its end, the bar would vanish before the writing
		return
	}
	now := p.app.Now()
	switch {
	case bytes >= p.size && p.lines > 0:
		p.app.Say("read all, writing")
	case now.Sub(p.last) < progressEvery || bytes >= p.size:
		return
	default:
		p.app.Say("read %d %% of %s bytes", bytes*100/max(p.size, 1), cli.Thousands(p.size))
	}
	p.last = now
	p.lines++
}

// clear takes the bar away, so that a line can be printed in its place.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// migrationProgress shows how far a migration is: a bar on a terminal, else line is
// called now and then with the percentage of the rows.
func (a *app) migrationProgress(line func(percent, total int64)) func(done, total int64) {
	var bar *progressbar.ProgressBar
	var last time.Time
	return func(done, total int64) {
		switch now := a.Now(); {
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
