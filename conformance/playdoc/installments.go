package playdoc

// installments is InstallmentPlan (Reference). It has no member for the payments after the
// initial ones: without it, the plan goes on as one that is not in installments.
type installments struct {
	Initial   int    `json:"initialCommittedPaymentsCount"`
	Remaining int    `json:"remainingCommittedPaymentsCount,omitempty"`
	Pending   *empty `json:"pendingCancellation,omitempty"`
}

// committed is how many committed payments are left. The purchase was the first one.
func (s *subscription) committed() int {
	return max(0, s.current().plan.Payments-1-s.renewals)
}

// leaver is who canceled a subscription that ends with the paid time.
func (s *subscription) leaver() string {
	if s.leaving {
		return byUser
	}
	return bySystem
}

func (s *subscription) renderInstallments(it *item) *installments {
	if it.plan.Payments == 0 {
		return nil
	}
	details := &installments{Initial: it.plan.Payments, Remaining: s.committed()}
	if s.leaving {
		details.Pending = &empty{}
	}
	return details
}
