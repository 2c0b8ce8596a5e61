package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/play"
)

// inbox is what the page of notifications shows.
type inbox struct {
	alerts   []shownAlert
	messages []membership.ReceivedMessage
	pager    frame.Pager
}

func (p *Pages) showNotifications(w http.ResponseWriter, r *frame.Request) error {
	var box inbox
	var err error
	if box.alerts, err = p.alerts(r); err != nil {
		return err
	}
	before := frame.Before(r)
	list, err := p.addon.Members.Messages(r.Context(), r.Actor, before, frame.PerPage+1)
	if err != nil {
		return err
	}
	box.messages = list[:min(len(list), frame.PerPage)]
	if before != 0 {
		box.pager.Newer = pathNotifications
	}
	if len(list) > frame.PerPage {
		box.pager.Older = pathNotifications + "?before=" + strconv.FormatInt(box.messages[frame.PerPage-1].ID, 10)
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Notifications", Crumbs: crumbs(), Body: notificationsView(box),
		Lead: "What the store reported about purchases. Each purchase is then read from the store: a notification alone changes nothing.",
	})
}

var messageKinds = map[play.NotificationKind]string{
	play.OfSubscription: "Subscription", play.OfOneTime: "One-time product", play.OfVoid: "Voided purchase",
	play.OfRefundReview: "Chargeback review", play.OfTest: "Test notification",
}

// messageResults are the results of notifications in words; others are the codes of errors.
var messageResults = map[string]frame.Badge{
	membership.ResultCreated: {Text: "New purchase", Kind: frame.Good}, membership.ResultUpdated: {Text: "Purchase updated", Kind: frame.Good},
	membership.ResultUnchanged: {Text: "No change"}, membership.ResultAnswered: {Text: "Answered", Kind: frame.Good}, "not needed": {Text: "Nothing to do"}, "no owner yet": {Text: "No owner yet", Kind: frame.Note},
}

// rows is the table of notifications.
func (b inbox) rows() (rows []frame.Row) {
	for _, m := range b.messages {
		kind := messageKinds[m.Kind]
		if kind == "" {
			kind = "Unknown"
		}
		rows = append(rows, frame.Row{frame.Time(m.ReceivedAt), frame.Words(kind), messageCode(m), frame.Time(m.ProcessedAt), messageResult(m), frame.Mono(m.MessageID)})
	}
	return rows
}

// messageCode is the store's name of a code, with its number.
func messageCode(m membership.ReceivedMessage) templ.Component {
	switch {
	case m.Code == 0:
		return frame.Muted("–")
	case m.Name() == "":
		return frame.Words("Unknown (" + strconv.FormatInt(m.Code, 10) + ")")
	}
	return frame.Mono(m.Name())
}

func messageResult(m membership.ReceivedMessage) templ.Component {
	if m.ProcessedAt.IsZero() {
		return frame.Badge{Text: "In the queue"}
	}
	if known, there := messageResults[m.Result]; there {
		return known
	}
	return frame.Badge{Text: strings.ReplaceAll(m.Result, "_", " "), Kind: frame.Warning}
}
