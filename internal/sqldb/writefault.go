package sqldb

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// WriteFault names why writes fail, where that ends without a restart.
type WriteFault string

// The faults.
const (
	FaultFull     WriteFault = "disk_full"
	FaultReadOnly WriteFault = "read_only"
)

// WriteFaults lists all faults.
var WriteFaults = [...]WriteFault{FaultFull, FaultReadOnly}

// writeFaults counts failed writes, and knows whether one succeeded since.
type writeFaults struct {
	last   atomic.Value // a WriteFault
	counts [len(WriteFaults)]atomic.Int64
}

func (w *writeFaults) note(f WriteFault) {
	w.last.Store(f)
	w.counts[slices.Index(WriteFaults[:], f)].Add(1)
}

// end notes a write that succeeded.
func (w *writeFaults) end() {
	if w.present() != "" {
		w.last.Store(WriteFault(""))
	}
}

// present is the fault of the last write, "" after one that succeeded.
func (w *writeFaults) present() WriteFault {
	f, _ := w.last.Load().(WriteFault)
	return f
}

// metaProbe is the name under which the database keeps the time of the last probe.
const metaProbe = "write_probe"

// ProbeWrites writes a value if the last write failed for a [WriteFault]. Without other
// writes, nobody would notice the end of the fault.
func (db *DB) ProbeWrites(ctx context.Context) {
	if db.writeFaults.present() == "" {
		return
	}
	// The next probe repeats one that fails.
	_ = db.Tx(ctx, func(q Queries) error {
		return q.SetMeta(ctx, metaProbe, time.Now().UTC().Format(timeLayout))
	})
}
