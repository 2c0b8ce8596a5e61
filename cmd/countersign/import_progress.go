package main

import (
	"time"

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
	p := &progress{app: a, size: size, last: a.now()}
	if a.drawsBars() {
		p.bar = a.newBar("reading", size, progressbar.OptionShowBytes(true))
	}
	return p
}

// drawsBars reports whether stderr is a terminal on which a bar can be drawn.
func (a *app) drawsBars() bool { return a.term.err.isTerminal && !a.plain() && !a.quiet }

func (a *app) newBar(description string, size int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(max(size, 1), append(more, progressbar.OptionSetWriter(a.term.err),
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
	now := p.app.now()
	switch {
	case bytes >= p.size && p.lines > 0:
		p.app.say("read all, writing")
	case now.Sub(p.last) < progressEvery || bytes >= p.size:
		return
	default:
		p.app.say("read %d %% of %s bytes", bytes*100/max(p.size, 1), thousands(p.size))
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
