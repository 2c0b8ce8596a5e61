package backup

// Reached makes a service tell of each step of a restore.
func (s *Service) Reached(fn func(step string)) { s.reached = fn }

// Waited makes a keeper tell whenever an entry waits for other writers.
func (k *Keeper) Waited(fn func()) { k.waited = fn }
