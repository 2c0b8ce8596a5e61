package membership

import "github.com/countersign/countersign/internal/play"

// codeNames are the codes of subscription notifications, with the store's names (1.8).
var codeNames = map[int64]string{
	1: "RECOVERED", 2: "RENEWED", 3: "CANCELED", 4: "PURCHASED", 5: "ON_HOLD", 6: "IN_GRACE_PERIOD", 7: "RESTARTED",
	8: "PRICE_CHANGE_CONFIRMED", 9: "DEFERRED", 10: "PAUSED", 11: "PAUSE_SCHEDULE_CHANGED", 12: "REVOKED", 13: "EXPIRED",
	17: "ITEMS_CHANGED", 18: "CANCELLATION_SCHEDULED", 19: "PRICE_CHANGE_UPDATED", 20: "PENDING_PURCHASE_CANCELED",
	22: "PRICE_STEP_UP_CONSENT_UPDATED",
}

// oneTimeNames are the codes of notifications about one-time products.
var oneTimeNames = map[int64]string{1: "ONE_TIME_PRODUCT_PURCHASED", 2: "ONE_TIME_PRODUCT_CANCELED"}

// Name is the store's name of the code of a notification, "" for one without a code or with one
// that this version does not know.
func (m ReceivedMessage) Name() string {
	switch m.Kind {
	case play.OfSubscription:
		return codeNames[m.Code]
	case play.OfOneTime:
		return oneTimeNames[m.Code]
	}
	return ""
}
