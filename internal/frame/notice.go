package frame

import "net/http"

// notice names a message for a visitor without a session. It is in a separate cookie: a
// flash needs a session row, and strangers could fill the database with them.
type notice string

// The notices.
const (
	noticeLate notice = "late"
	noticeOut  notice = "out"
	// Of somebody who has ended the own account.
	noticeRemoved     notice = "removed"
	noticeDeactivated notice = "deactivated"
)

// notices are their texts, and what they look like.
var notices = map[notice]struct {
	kind Kind
	text string
}{
	noticeLate:        {Danger, "You are not signed in: the sign-in took too long. Start again."},
	noticeOut:         {Good, "You are signed out."},
	noticeRemoved:     {Good, "Your account was removed. You are signed out."},
	noticeDeactivated: {Good, "Your account was deactivated. You are signed out."},
}

const noticeCookie = "countersign_notice"

// popMessages takes the request's message out of the session, or out of its cookie.
func (f *Frame) popMessages(w http.ResponseWriter, r *Request) {
	flash, warning := f.sessions.PopString(r.Context(), keyFlash), f.sessions.PopString(r.Context(), keyWarning)
	r.flash, r.flashKind = flash, Good
	if warning != "" {
		r.flash, r.flashKind = warning, Warning
	}
	word := f.cookieOf(w, r.Request, noticeCookie)
	if word == "" {
		return
	}
	f.setCookie(w, r.Request, noticeCookie, "", -1)
	if n := notices[notice(word)]; r.flash == "" {
		r.flash, r.flashKind = n.text, n.kind
	}
}
