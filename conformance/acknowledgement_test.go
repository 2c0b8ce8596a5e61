package conformance

import (
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// Acknowledgements, which have to arrive within three days.
var acknowledgementCases = []conformance{
	{name: "a verification acknowledges the purchase, once", rule: "1.4", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.deliver()
		s.pass(4 * day)
		if s.front.acknowledgement(token).times != 1 {
			s.t.Errorf("%+v", s.front.acknowledgement(token))
		}
		s.want("7", "active Gold")
	}},
	{name: "a failed acknowledgement is tried again after 5 s, 30 s, 2 min, and every 10 min", rule: "1.4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(6, fault{of: ofAcks, status: 503, reason: "backendError"})
		if v := s.verify("7", token); v.status != http.StatusOK || v.Purchase.Acknowledged {
			s.t.Errorf("%v, %+v", v, v.Purchase)
		}
		for tried, wait := range []time.Duration{5 * time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			s.pass(wait - time.Second)
			if got := s.front.tried(token); got != tried+1 {
				s.t.Errorf("%d attempts before wait %d is over", got, tried+1)
			}
			s.pass(time.Second)
			if got := s.front.tried(token); got != tried+2 {
				s.t.Errorf("%d attempts after wait %d", got, tried+1)
			}
		}
		if s.front.acknowledgement(token).times != 1 || !s.purchases("7")[0].Acknowledged {
			s.t.Error("not acknowledged in the end")
		}
	}},
	{name: "an acknowledgement that is not answered does not delay the app for long, and is tried again", rule: "1.4, timeouts", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(1, fault{of: ofAcks, hang: true})
		if v := s.verify("7", token); v.status != http.StatusOK || v.Purchase.Acknowledged || !v.Membership.Active {
			s.t.Errorf("%v, %+v", v, v.Purchase)
		}
		s.pass(6 * time.Second)
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged")
		}
	}},
	{name: "an acknowledgement that fails for an hour raises an alert, and ends it when it succeeds", rule: "1.4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(200, fault{of: ofAcks, status: 503, reason: "backendError"})
		s.verify("7", token)
		for range 6 {
			s.pass(11 * time.Minute)
		}
		if s.alerts() != "unacknowledged_purchase" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
		s.front.heal()
		s.pass(11 * time.Minute)
		if s.front.acknowledgement(token).times != 1 || s.alerts() != "" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
	}},
	{name: "a purchase that could not be acknowledged for three days is refunded by the store, and its access ends", rule: "1.4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(2000, fault{of: ofAcks, status: 503, reason: "backendError"})
		s.verify("7", token)
		s.want("7", "active Gold")
		s.pass(3*day + time.Minute)
		s.deliver()
		s.want("7", "revoked")
		s.pass(time.Hour)
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "a start begins the schedule of what is not acknowledged anew", rule: "1.4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(6, fault{of: ofAcks, status: 503, reason: "backendError"})
		s.verify("7", token)
		for range 5 {
			s.pass(11 * time.Minute)
		}
		s.front.heal()
		s.open()
		s.work()
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged at the start")
		}
	}},
	{name: "a notification that was accepted before the process ended is processed after the next start", rule: "1.8, crash", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.push(s.play.news()...)
		s.want("7", "none")
		s.open()
		s.work()
		s.want("7", "active Gold")
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged")
		}
	}},
	{name: "a process that is killed between the commit and the acknowledgement loses nothing", rule: "1.4, crash", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.killedAt(s.front.holdAcknowledgement(), token)
		s.open()
		s.want("7", "active Gold")
		if s.front.acknowledgement(token).times != 0 {
			s.t.Error("acknowledged before the kill")
		}
		s.pass(time.Minute) // the lease of the task ends
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged after the start")
		}
		if v := s.verified("7", token); v.Result != "unchanged" {
			s.t.Errorf("%v", v)
		}
		s.wantEvents("activated 7")
	}},
}

// killedAt has a process of its own verify a token for user 7, and kills it when the channel is closed.
func (s *site) killedAt(reached <-chan struct{}, token string) {
	s.t.Helper()
	child := dbtest.StartChild(s.t, s.at, stepVerify, envPlay+"="+s.google, envToken+"="+token, envClock+"="+s.clock.Now().Format(time.RFC3339))
	ended := make(chan string, 1)
	go func() {
		child.Lines.Scan() // it prints only when it was not killed
		ended <- child.Lines.Text()
	}()
	select {
	case <-reached:
	case said := <-ended:
		s.t.Errorf("the process was not killed in time: %q", said)
		ended <- said
	}
	child.Kill()
	<-ended
	child.Wait()
}
