package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

const notificationsPath = "/api-addons/admin/notifications"

// mustReceive stores a notification of the store.
func (s *site) mustReceive(t *testing.T, n play.Notification) {
	t.Helper()
	n.Package = "com.example.rain"
	must.Do(t, s.Members.Receive(t.Context(), n, []byte("{}")))
}

func TestNotificationsHaveTheNamesOfTheirCodes(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		b.Get(notificationsPath).Status(http.StatusOK).Says("No notifications yet")
		s.mustReceive(t, play.Notification{MessageID: "m-1", Kind: play.OfSubscription, Code: 2, Token: "token-of-nobody"})
		s.mustReceive(t, play.Notification{MessageID: "m-2", Kind: play.OfTest})
		b.Get(notificationsPath).Says("Subscription", "RENEWED", "In the queue", "m-1", "Test notification", "Nothing to do").SilentAbout("token-of-nobody", "No notifications yet")
		s.mustReceive(t, play.Notification{MessageID: "m-3", Kind: play.OfSubscription, Code: 16, Token: "token-of-nobody"})
		b.Get(notificationsPath).Says("Unknown (16)")
	})
}

func TestNotificationsAreListedInPages(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
			s.mustReceive(t, play.Notification{MessageID: "message-" + string(c), Kind: play.OfTest})
		}
		b.Get(notificationsPath).Says("message-Z", "Older").SilentAbout("message-a")
		b.Get(notificationsPath+"?before=3").Says("message-a", "Newer").SilentAbout("message-Z")
	})
}

func TestAlertsSayWhatSolvesThemUntilTheyAreDismissed(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		s.mustReceive(t, play.Notification{MessageID: "m-1", Kind: play.OfSubscription, Code: 16, Token: "token-of-nobody"})
		s.mustReceive(t, play.Notification{MessageID: "m-2", Kind: play.OfRefundReview, OrderID: "GPA.1-2-3"})
		for _, path := range []string{notificationsPath, "/api-addons/admin"} {
			b.Get(path).Says("Unknown notification", "Look for a newer version", "A buyer disputes an order", "GPA.1-2-3", "until 2 Nov 2026, 12:00 UTC")
		}
		b.Post(notificationsPath+"/dismiss", "kind", "unknown_notification", "subject", "16").LeadsTo(notificationsPath)
		b.Get(notificationsPath).SilentAbout("Look for a newer version")
		b.Post(notificationsPath+"/dismiss", "kind", "unknown_notification", "subject", "16").Status(http.StatusNotFound)
	})
}
