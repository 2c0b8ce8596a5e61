package pages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/frame"
)

// shownAlert is an alert with what to do about it.
type shownAlert struct {
	membership.Alert
	kind  frame.Kind
	title string
	next  string     // what solves it
	link  frame.Link // where that is done
}

// reviewTime is how long the store waits for an opinion on a chargeback (1.8 of the notes).
const reviewTime = 24 * time.Hour

// alertTexts are the titles of alerts and what solves them, by their kinds.
var alertTexts = map[string]shownAlert{
	membership.AlertNotAuthorised:  {kind: frame.Danger, title: "The store refuses the service account", next: "Purchases are not verified until this is repaired. The connection test names what is missing.", link: frame.Link{Label: "Test the connection", Path: pathConnection}},
	membership.AlertRefused:        {kind: frame.Warning, title: "The store refused a call", next: "If it happens again, test the connection.", link: frame.Link{Label: "Test the connection", Path: pathConnection}},
	membership.AlertNotification:   {kind: frame.Note, title: "Unknown notification", next: "Look for a newer version of this addon.", link: frame.Link{Label: "Update", Path: PathUpdate}},
	membership.AlertUnknownState:   {kind: frame.Warning, title: "Unknown state of a purchase", next: "Look for a newer version of this addon.", link: frame.Link{Label: "Update", Path: PathUpdate}},
	membership.AlertApplication:    {kind: frame.Warning, title: "Notifications of another app", next: "Correct the Android application ID, or the topic in the store's console.", link: frame.Link{Label: "In-app purchases", Path: pathIAP}},
	membership.AlertNotMapped:      {kind: frame.Danger, title: "A product activates nothing", next: "Map the product to a package and publish. Then refresh the purchase.", link: frame.Link{Label: "Products", Path: pathIAP + "#" + groupID("Products")}},
	membership.AlertProduct:        {kind: frame.Warning, title: "A mapped product can't be bought", next: "Correct it in the store's console, or change the map.", link: frame.Link{Label: "Check products", Path: pathCatalogue}},
	membership.AlertUnacknowledged: {kind: frame.Danger, title: "A purchase is not acknowledged", next: "The store refunds purchases that are not acknowledged within three days. Test the connection.", link: frame.Link{Label: "Test the connection", Path: pathConnection}},
	membership.AlertSilence:        {kind: frame.Warning, title: "No notifications arrive", next: "Send a test notification from the store's console, and compare account and audience.", link: frame.Link{Label: "Store notifications", Path: pathIAP + "#" + groupID("Store notifications")}},
	membership.AlertPaidTwice:      {kind: frame.Warning, title: "A user pays twice", next: "Only one of the subscriptions counts. Cancel the other, and refund it if the user asks for that."},
	membership.AlertPull:           {kind: frame.Danger, title: "Notifications can't be pulled", next: "Correct the permission or the subscription.", link: frame.Link{Label: "Store notifications", Path: pathIAP + "#" + groupID("Store notifications")}},
	membership.AlertOwnerUnknown:   {kind: frame.Warning, title: "A purchase waits for its owner", next: "Transfer it to the user, or refuse it."},
	membership.AlertRefundReview:   {kind: frame.Danger, title: "A buyer disputes an order", next: "The store accepts one answer."},
}

// shown adds to an alert what to do about it.
func shown(a membership.Alert) shownAlert {
	known, there := alertTexts[a.Kind]
	if !there {
		known = shownAlert{kind: frame.Warning, title: "Alert"}
	}
	known.Alert = a
	switch a.Kind {
	case membership.AlertOwnerUnknown:
		known.link = frame.Link{Label: "Decide", Path: purchasePath(a.Subject, "")}
	case membership.AlertPaidTwice:
		known.link = frame.Link{Label: "Customer", Path: customerPath(a.Subject, "")}
	case membership.AlertRefundReview:
		known.next = "The store accepts one answer, until " + frame.Moment(a.FirstAt.Add(reviewTime)) + "."
		known.link = frame.Link{Label: "Answer it", Path: pathReview + "?order=" + url.QueryEscape(a.Subject)}
	}
	return known
}

// when says since when an alert is open, and how often its cause came.
func (a shownAlert) when() string {
	text := "Since " + frame.Moment(a.FirstAt)
	if a.Count > 1 {
		text += ", " + frame.Count(int(a.Count), "time") + ", last on " + frame.Moment(a.LastAt)
	}
	return text + "."
}

// alerts reads the open alerts.
func (p *Pages) alerts(r *frame.Request) (list []shownAlert, err error) {
	all, err := p.addon.Members.Alerts(r.Context(), r.Actor)
	for _, a := range all {
		list = append(list, shown(a))
	}
	return list, err
}

// dismissAlert closes an alert. Its button asks nothing first: the alert comes back with its cause.
func (p *Pages) dismissAlert(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if err := p.addon.Members.DismissAlert(r.Context(), r.Actor, in.Get("kind"), in.Get("subject")); err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathNotifications, "The alert is dismissed. It comes back when its cause does.")
}

// maxDashboardAlerts is how many alerts the dashboard shows.
const maxDashboardAlerts = 3
