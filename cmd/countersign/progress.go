package main

import (
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/schollz/progressbar/v3"
)

// progressEvery is how often a line says how far something is, where no bar can be drawn.
const progressEvery = 5 * time.Second

// progress shows how far something is: a bar on a terminal, else line is called now and then.
type progress struct {
	app     *app
	line    func(percent, total int64)
	options []progressbar.Option
	bar     *progressbar.ProgressBar // nil where none can be drawn
	last    time.Time                // when line was last called
	lines   int
}

func (a *app) newProgress(what string, line func(percent, total int64), more ...progressbar.Option) *progress {
	return &progress{app: a, line: line, last: a.Now(), options: append(more, progressbar.OptionSetWriter(a.Err),
		progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())}
}

// tell is told how much is done.
func (p *progress) tell(done, total int64) {
	switch now := p.app.Now(); {
	case p.app.Err.IsTerminal() && !p.app.Plain() && !p.app.Quiet:
		if p.bar == nil {
			p.bar = progressbar.NewOptions64(max(total, 1), p.options...)
		}
		_ = p.bar.Set64(done)
	case now.Sub(p.last) >= progressEvery && done < total:
		p.line(done*100/total, total)
		p.last = now
		p.lines++
	}
}

// clear takes the bar away, so that a line can be printed in its place.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// readingProgress shows how much of an imported file was read, in bytes. The writing follows, so the bar never reaches its
// end, at which it would vanish.
func (a *app) readingProgress(size int64) (p *progress, read func(bytes int64)) {
	p = a.newProgress("reading", func(percent, total int64) { a.Say("read %d %% of %s bytes", percent, cli.Thousands(total)) }, progressbar.OptionShowBytes(true))
	return p, func(bytes int64) {
		switch {
		case bytes < size:
			p.tell(bytes, size)
		case p.bar != nil:
			p.bar.Describe("writing")
		case p.lines > 0:
			a.Say("read all, writing")
		}
	}
}
