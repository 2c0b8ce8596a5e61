package frame

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// NotFound answers a path that leads nowhere. It is a [Handler] for the rest of
// a folder of pages.
func (f *Frame) NotFound(http.ResponseWriter, *Request) error {
	return fault.NotFound(countersign.CodeNotFound, "")
}

// fail answers an error with a page, or returns it for a client that takes JSON: the edge writes that. Why the service is
// unavailable is for somebody who is signed in: it may name files.
func (f *Frame) fail(w http.ResponseWriter, r *Request, err error) error {
	if r.User.ID == 0 {
		err = fault.Public(err)
	}
	err = f.WithNextStep(err)
	if wantsJSON(r.Request) {
		return err
	}
	return web.Fail(w, r.Request, err, func(status int, shown *countersign.Error) error {
		return f.write(w, r, f.failPage(w, r, status, shown))
	})
}

// failPage is the page of an error: what happened, why, and the way on.
func (f *Frame) failPage(w http.ResponseWriter, r *Request, status int, shown *countersign.Error) Page {
	home := Link{Label: "Go to the start page", Path: f.Home, Icon: "house"}
	if r.User.ID == 0 && f.People != nil {
		home = Link{Label: "Go to sign-in", Path: f.SignIn, Icon: "arrow-right"}
	}
	p := Page{Status: status, Bare: r.User.ID == 0}
	view := failure{Status: status, Text: Sentence(shown.Message), On: home}
	switch {
	case status == http.StatusNotFound:
		p.Title = "Page not found"
		if shown.Code == countersign.CodeNotFound {
			view.Text = "No page exists at " + r.URL.Path + ". It may have been removed, or the address is mistyped."
		}
	case status == http.StatusMethodNotAllowed:
		p.Title = "Not possible here"
		view.Text = "This address does not accept " + r.Method + " requests. If a link or form led here, go back and reload that page."
	case status == http.StatusForbidden:
		p.Title = "Not allowed"
		view.Text = strings.TrimPrefix(view.Text, p.Title+". ")
	case status == http.StatusServiceUnavailable:
		p.Title, view.ID = "Not available right now", web.RequestID(w)
		view.Text = Sentence(unavailableText(shown))
	case status >= http.StatusInternalServerError:
		p.Title, view.ID = "Something went wrong here", web.RequestID(w)
		view.Text = "This is an error of the server. Your last change may have been saved: check before you repeat it. The server's log has details under the number below."
	default:
		p.Title = "That did not work"
	}
	if r.Area.Label != "" && (status == http.StatusForbidden || status == http.StatusNotFound) {
		view.Back = Link{Label: "Go to " + r.Area.Label, Path: r.Area.Path, Icon: "arrow-right"}
	}
	p.Body = failureView(view)
	return p
}

// unavailableText says in whole sentences what [fault.Public] says in the API's words. The message of an error that did
// not pass through it is for somebody who is signed in, and stays.
func unavailableText(shown *countersign.Error) string {
	switch {
	case shown.Message != countersign.MsgUnavailable:
		return shown.Message
	case shown.Code == countersign.CodeMigrating:
		return "The server is being updated. Nothing was changed: try again in a few minutes"
	case shown.Code == countersign.CodeMigrationFailed:
		return "The update of the server can't be completed. Nothing was changed. The server tries again by itself; its log says what is missing"
	case shown.Code == countersign.CodeOutcomeUnknown:
		return "The server could not confirm your change in time. It may have been saved. Check again in a few minutes"
	}
	return "The server can't answer right now. Nothing was changed: try again in a few minutes"
}

// failure is what the page of an error says.
type failure struct {
	Status int
	Text   string
	// ID is the request's, where the log says more; "" where there is nothing to find.
	ID string
	On Link
	// Back leads to the place in which the page would be; left out when its label is empty.
	Back Link
}
