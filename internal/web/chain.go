package web

// A silentList holds silent connections, those that have been it longest first. A connection is its own element, so
// that a request allocates nothing for it.
type silentList struct {
	link        func(*conn) *silentLink
	first, last *conn
	length      int
}

// A silentLink is the place of a connection in one list.
type silentLink struct{ before, next *conn }

func (l *silentList) push(c *conn) {
	*l.link(c) = silentLink{before: l.last}
	if l.last == nil {
		l.first = c
	} else {
		l.link(l.last).next = c
	}
	l.last = c
	l.length++
}

func (l *silentList) remove(c *conn) {
	at := *l.link(c)
	if at.before == nil {
		l.first = at.next
	} else {
		l.link(at.before).next = at.next
	}
	if at.next == nil {
		l.last = at.before
	} else {
		l.link(at.next).before = at.before
	}
	*l.link(c) = silentLink{}
	l.length--
}
