package conformance

import "slices"

// allCases are the rows of the table.
func allCases() []conformance {
	return slices.Concat(
		accessCases, dunningCases, planCases, refundCases, notificationCases, ownershipCases, acknowledgementCases, failureCases, testerCases, settingsCases, testModeCases, oneTimeCases,
	)
}
