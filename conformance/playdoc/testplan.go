package playdoc

// testRenewals is how often a subscription of a license tester is renewed before it is
// canceled (Test; and the Android developers' blog, faster renewals for test subscriptions).
const testRenewals = 6

// testPeriods are the periods of license testers by those of the plan. Chosen: other periods
// are those of the next shorter row.
var testPeriods = map[Period]Period{"P1W": "PT5M", "P7D": "PT5M", "P1M": "PT5M", "P3M": "PT10M", "P6M": "PT15M", "P1Y": "PT30M", "P12M": "PT30M"}

// forTester is a plan in the times of license testers (Test, table of test periods): free
// trials have 3 minutes and the grace period 5, an account hold has 10. Chosen: what the
// plan has switched off stays off.
func (p Plan) forTester() Plan {
	p.Grace, p.Hold = inTest(p.grace(), "PT5M"), inTest(p.hold(), "PT10M")
	p.Period = testPeriod(p.Period)
	offers := make([]Offer, 0, len(p.Offers))
	for _, offer := range p.Offers {
		if offer.Period = testPeriod(offer.Period); offer.Trial {
			offer.Period = "PT3M"
		}
		offers = append(offers, offer)
	}
	p.Offers = offers
	return p
}

func testPeriod(period Period) Period {
	if short := testPeriods[period]; short != "" {
		return short
	}
	return "PT5M"
}

func inTest(period, short Period) Period {
	if period == "P0D" {
		return period
	}
	return short
}

// tested reports whether a license tester's subscription has had all its renewals.
func (s *subscription) tested() bool { return s.purchase.Test && s.renewals == testRenewals }
