package playdoc

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// listVoided is purchases.voidedpurchases.list. Subscriptions are listed with type 1 only, one-time products always;
// one page has 1000 entries at most, and the list goes back 30 days (Voided). Chosen: an
// older start is moved up, because Voided says so where the Reference says "cannot".
func (p *Play) listVoided(c call) (any, error) {
	query := c.r.URL.Query()
	oldest := c.now.AddDate(0, 0, -30)
	first, startText, endText := "", query.Get("startTime"), query.Get("endTime")
	if token := query.Get("token"); token != "" {
		// The token has the times of the first page; those of the query are ignored (Reference).
		parts := append(strings.Split(token, "."), "", "")
		first, startText, endText = parts[0], parts[1], parts[2]
	}
	start, err := millis("startTime", startText, oldest)
	if err != nil {
		return nil, err
	}
	end, err := millis("endTime", endText, c.now)
	if err != nil {
		return nil, err
	}
	if end.After(c.now) {
		return nil, invalid("endTime is after the current time.")
	}
	all := []map[string]any{}
	for _, v := range p.voided {
		if (query.Get("type") == "1" || p.findOnce(v.order.token) != nil) && !v.at.Before(oldest) && !v.at.Before(start) && !v.at.After(end) {
			all = append(all, v.render())
		}
	}
	from, count, next, err := page(len(all), query.Get("maxResults"), first, 1000)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"pageInfo": map[string]int{"totalResults": len(all), "resultPerPage": count, "startIndex": from}}
	if count > 0 {
		answer["voidedPurchases"] = all[from : from+count]
	}
	if next != "" {
		answer["tokenPagination"] = map[string]string{"nextPageToken": fmt.Sprintf("%s.%d.%d", next, start.UnixMilli(), end.UnixMilli())}
	}
	return answer, nil
}

func (v voided) render() map[string]any {
	return map[string]any{
		"kind": "androidpublisher#voidedPurchase", "purchaseToken": v.order.token, "orderId": v.order.id,
		"purchaseTimeMillis": strconv.FormatInt(v.order.created.UnixMilli(), 10), "voidedTimeMillis": strconv.FormatInt(v.at.UnixMilli(), 10),
		"voidedSource": v.source, "voidedReason": v.reason,
	}
}

// millis reads a time in milliseconds.
func millis(name, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, invalid(name + " is not a number of milliseconds.")
	}
	return time.UnixMilli(n), nil
}

// page returns which of n entries a call wants, and the token of the next page, "" after
// the last. Chosen: the token is the number of the next entry.
func page(n int, sizeText, token string, size int) (from, count int, next string, err error) {
	if sizeText != "" {
		if size, err = strconv.Atoi(sizeText); err != nil || size < 1 {
			return 0, 0, "", invalid("The size of a page is not a number from 1.")
		}
	}
	if token != "" {
		if from, err = strconv.Atoi(token); err != nil || from < 0 || from > n {
			return 0, 0, "", invalid("The token is not that of a page.")
		}
	}
	count = min(size, 1000, n-from)
	if from+count < n {
		next = strconv.Itoa(from + count)
	}
	return from, count, next, nil
}

// listProducts is monetization.subscriptions.list: 50 products a page by default, 1000 at
// most (Reference).
func (p *Play) listProducts(c call) (any, error) {
	all := []map[string]any{}
	for _, product := range p.options.Products {
		all = append(all, p.renderProduct(product))
	}
	query := c.r.URL.Query()
	from, count, next, err := page(len(all), query.Get("pageSize"), query.Get("pageToken"), 50)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{}
	if count > 0 {
		answer["subscriptions"] = all[from : from+count]
	}
	if next != "" {
		answer["nextPageToken"] = next
	}
	return answer, nil
}

func (p *Play) renderProduct(product Product) map[string]any {
	plans := []map[string]any{}
	for _, plan := range product.Plans {
		kind, details := "autoRenewingBasePlanType", map[string]any{"billingPeriodDuration": string(plan.Period)}
		if plan.Prepaid {
			kind = "prepaidBasePlanType"
		} else {
			details["gracePeriodDuration"], details["accountHoldDuration"] = string(plan.grace()), string(plan.hold())
		}
		if plan.Payments > 0 {
			kind, details["renewalType"] = "installmentsBasePlanType", "RENEWAL_TYPE_RENEWS_WITHOUT_COMMITMENT"
			details["committedPaymentsCount"] = plan.Payments
		}
		plans = append(plans, map[string]any{"basePlanId": plan.ID, "state": "ACTIVE", kind: details,
			"regionalConfigs": []map[string]any{{"regionCode": "US", "newSubscriberAvailability": true, "price": plan.Price}}})
	}
	return map[string]any{"packageName": p.options.Package, "productId": product.ID, "basePlans": plans,
		"listings": []map[string]string{{"languageCode": "en-US", "title": product.Title}}}
}
