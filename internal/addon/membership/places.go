package membership

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// places bounds the verifications that wait for the store, in all and of each user, so that no user takes those of others.
type places struct {
	all *semaphore.Weighted

	mu    sync.Mutex
	users map[string]*userPlaces
}

// userPlaces are those of one user; verifications counts who has one or waits for it.
type userPlaces struct {
	*semaphore.Weighted
	verifications int
}

func newPlaces() *places {
	return &places{all: semaphore.NewWeighted(maxUnderWay), users: map[string]*userPlaces{}}
}

// take waits for a place of the user until ctx ends, and at most timeout for one of all. Without a place it returns nil.
func (p *places) take(ctx context.Context, user string, timeout time.Duration) (leave func()) {
	own := p.enter(user)
	if own.Acquire(ctx, 1) != nil {
		p.exit(user)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if p.all.Acquire(ctx, 1) != nil {
		own.Release(1)
		p.exit(user)
		return nil
	}
	return func() {
		p.all.Release(1)
		own.Release(1)
		p.exit(user)
	}
}

func (p *places) enter(user string) *userPlaces {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.users[user]
	if own == nil {
		own = &userPlaces{Weighted: semaphore.NewWeighted(maxUserUnderWay)}
		p.users[user] = own
	}
	own.verifications++
	return own
}

func (p *places) exit(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users[user].verifications--; p.users[user].verifications == 0 {
		delete(p.users, user)
	}
}
