package simulator

// SetMaxOrders replaces how many orders the store holds.
func (s *Service) SetMaxOrders(n int) { s.maxOrders = n }
