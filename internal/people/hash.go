package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"golang.org/x/crypto/argon2"
)

// HashCost is what a password's hash costs whoever makes one. The zero value is
// the real cost; tests of other things take [TestCost].
type HashCost struct{ KiB, Passes uint32 }

var (
	// realCost is that of argon2id with 19 MiB and two passes.
	realCost = HashCost{19 * 1024, 2}
	// TestCost protects nothing and takes no time.
	TestCost = HashCost{8, 1}
)

const (
	hashLanes  = 1
	saltLength = 16
	hashLength = 32
)

const hashFormat = "$argon2id$v=%d$m=%d,t=%d,p=%d$"

// maxHashes bounds the memory for hashes, of which each takes 19 MiB.
const maxHashes = 4

// queue is how many hashes may be computed or wait for that when one more is asked
// for.
type queue int64

// Part of the queue is reserved for signed-in users and known browsers.
const (
	strangersQueue queue = 32
	wholeQueue     queue = 64
)

// hashes makes and compares password hashes, a few at once.
type hashes struct {
	cost   HashCost
	slots  chan struct{}
	queued *atomic.Int64
}

var errBusy = fault.Limited(countersign.CodeRateLimited, "Too many passwords are being checked right now; try again in 2 seconds", 2*time.Second)

func newHashes(cost HashCost) hashes {
	if cost == (HashCost{}) {
		cost = realCost
	}
	return hashes{cost, make(chan struct{}, min(maxHashes, runtime.GOMAXPROCS(0))), new(atomic.Int64)}
}

// enter waits for a slot, or returns errBusy at once when the queue is full. The
// caller calls leave.
func (h hashes) enter(ctx context.Context, q queue) (leave func(), err error) {
	if queued := h.queued.Add(1); queued > int64(q) {
		h.queued.Add(-1)
		return nil, errBusy
	}
	select {
	case h.slots <- struct{}{}:
		return func() {
			<-h.slots
			h.queued.Add(-1)
		}, nil
	case <-ctx.Done():
		h.queued.Add(-1)
		return nil, ctx.Err()
	}
}

// make hashes a password with a salt of its own, in the PHC string format. errBusy as for enter.
func (h hashes) make(ctx context.Context, q queue, password string) (string, error) {
	leave, err := h.enter(ctx, q)
	if err != nil {
		return "", err
	}
	defer leave()
	salt := make([]byte, saltLength)
	rand.Read(salt) // never returns an error
	return h.text(salt, argon2.IDKey([]byte(password), salt, h.cost.Passes, h.cost.KiB, hashLanes, hashLength)), nil
}

func (h hashes) text(salt, key []byte) string {
	return fmt.Sprintf(hashFormat, argon2.Version, h.cost.KiB, h.cost.Passes, hashLanes) +
		base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

// nobodys is compared with when there is no such user, so that this takes as long
// as a wrong password. No password belongs to it.
func (h hashes) nobodys() string {
	return h.text(make([]byte, saltLength), make([]byte, hashLength))
}

// matches reports whether a password belongs to a hash.
func (h hashes) matches(ctx context.Context, q queue, hash, password string) (bool, error) {
	var version int
	var memory, passes uint32
	var lanes uint8
	parts := strings.Split(hash, "$")
	if len(parts) != 6 {
		return false, fmt.Errorf("people: a stored password is not a PHC string")
	}
	_, err := fmt.Sscanf(hash, hashFormat, &version, &memory, &passes, &lanes)
	if err != nil || version != argon2.Version {
		return false, fmt.Errorf("people: a stored password is not an argon2id hash")
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
	want, errHash := base64.RawStdEncoding.DecodeString(parts[5])
	if errSalt != nil || errHash != nil || len(want) == 0 {
		return false, fmt.Errorf("people: a stored password has a broken salt or hash")
	}
	leave, err := h.enter(ctx, q)
	if err != nil {
		return false, err
	}
	defer leave()
	got := argon2.IDKey([]byte(password), salt, passes, memory, lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
