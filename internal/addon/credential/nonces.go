package credential

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// nonce names a signed call: the same text may be used with different pairs.
type nonce struct {
	credential int64
	text       string
}

// digest is the key of a nonce in the database.
func (n nonce) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", n.credential, n.text))
	return hex.EncodeToString(sum[:])
}

// nonces remembers the nonces of valid calls until their time is out of
// the window: at most twice [SignedWindow], ten minutes. Only who holds a secret
// can add to it. It is what is left while the database can't be written.
type nonces struct {
	mu    sync.Mutex
	until map[nonce]time.Time
	swept time.Time
}

// add remembers a nonce and reports whether it was new.
func (n *nonces) add(one nonce, now, until time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until == nil {
		n.until = make(map[nonce]time.Time)
	}
	if now.Sub(n.swept) >= time.Minute {
		n.swept = now
		maps.DeleteFunc(n.until, func(_ nonce, end time.Time) bool { return now.After(end) })
	}
	// A time that is just within the window is still good at its end.
	if end, known := n.until[one]; known && !now.After(end) {
		return false
	}
	n.until[one] = until
	return true
}

// useNonce notes the nonce of a call that was signed at a time, so that no process serves the call again. While the
// database can't be written, calls that only read are served from the memory of this process, which knows no call from
// before its start.
func (s *Service) useNonce(ctx context.Context, one nonce, method string, at, now time.Time) error {
	until := at.Add(SignedWindow)
	if !s.nonces.add(one, now, until) {
		return errNonceUsed
	}
	isNew, err := s.db.UseNonce(ctx, one.digest(), sqldb.Time{Time: until})
	isRead := method == "GET" || method == "HEAD"
	switch {
	case err == nil && !isNew:
		return errNonceUsed
	case err == nil, isRead && cannotWrite(err) && !s.beforeStart(at, now):
		return nil
	case isRead && cannotWrite(err):
		return errBeforeStart
	}
	return err
}

// cannotWrite reports whether a write failed for another reason than that others write.
func cannotWrite(err error) bool {
	return fault.IsUnavailable(err) && !fault.HasCode(err, countersign.CodeBusy)
}

// PruneNonces deletes those whose calls are too old, also for a server whose clock is behind by [SignedWindow].
func (s *Service) PruneNonces(ctx context.Context) {
	if s.access.Ready() != nil {
		return // the tables may be older than the nonces
	}
	if err := s.db.PruneNonces(ctx, sqldb.Time{Time: s.access.Now().Add(-SignedWindow)}); err != nil {
		s.log.Warn("old nonces could not be removed", "cause", err)
	}
}
