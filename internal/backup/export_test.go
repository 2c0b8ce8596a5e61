package backup

// Reached makes a service tell of each step of a restore.
func (s *Service) Reached(fn func(step string)) { s.reached = fn }
