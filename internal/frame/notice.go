package frame

import "net/http"

// notice names a message for a visitor without a session. It is in a separate cookie: a
// flash needs a session row, and strangers could fill the database with them.
type notice string

// The notices.
const (
	noticeLost notice = "lost"
	noticeLate notice = "late"
	noticeOut  notice = "out"
	// Of somebody who has ended the own account.
	noticeRemoved     notice = "removed"
	noticeDeactivated notice = "deactivated"
)

var notices = map[notice]string{
	noticeLost: "Nothing was saved: you are no longer signed in. Sign in and try again.",
	noticeLate: "The sign-in took too long. Start again.",
	noticeOut:  "You are signed out.",

	noticeRemoved:     "Your account was removed. You are signed out.",
	noticeDeactivated: "Your account was deactivated. You are signed out.",
}

const noticeCookie = "countersign_notice"

// popNotice is the text of the request's notice, "" without one, and ends it.
func (f *Frame) popNotice(w http.ResponseWriter, r *Request) string {
	word := f.cookieOf(w, r.Request, noticeCookie)
	if word == "" {
		return ""
	}
	f.setCookie(w, r.Request, noticeCookie, "", -1)
	return notices[notice(word)]
}
