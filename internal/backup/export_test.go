package backup

import "context"

// Reached makes a service tell of each step of a restore, and when a backup is verified next.
func (s *Service) Reached(fn func(step string)) { s.reached = fn }

// FollowClock is what Run does each minute.
func (k *Keeper) FollowClock(ctx context.Context) error { return k.followClock(ctx) }

// Verified makes a keeper tell whenever a scheduled backup was verified.
func (k *Keeper) Verified(fn func(context.Context)) { k.verified = fn }

// Waited makes a keeper tell whenever an entry waits for other writers.
func (k *Keeper) Waited(fn func()) { k.waited = fn }
