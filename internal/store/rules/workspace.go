package rules

import "github.com/countersign/countersign/internal/store/storedb"

// WithFullName fills in the name that is made of the two others.
func WithFullName(w storedb.Workspace) storedb.Workspace {
	n := &w.Account.Name
	switch {
	case n.Firstname == "":
		n.FullName = n.Lastname
	case n.Lastname == "":
		n.FullName = n.Firstname
	default:
		n.FullName = n.Firstname + " " + n.Lastname
	}
	return w
}
