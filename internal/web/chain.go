package web

// A chain holds elements in the order in which they were pushed. An element has its own links, so that a request
// allocates nothing for its place.
type chain[T any] struct {
	link        func(*T) *links[T]
	first, last *T
	length      int
}

// links are the place of an element in one chain.
type links[T any] struct{ before, next *T }

func (l *chain[T]) push(c *T) {
	*l.link(c) = links[T]{before: l.last}
	if l.last == nil {
		l.first = c
	} else {
		l.link(l.last).next = c
	}
	l.last = c
	l.length++
}

func (l *chain[T]) remove(c *T) {
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
	*l.link(c) = links[T]{}
	l.length--
}
