package pages

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
)

// socialLink is a row of the form: a link of the profile by the name of its network.
type socialLink struct{ name, address string }

// maxLinks is how many rows a form has at most.
const maxLinks = 100

func (l socialLink) empty() bool { return l.name == "" && l.address == "" }

// The names of the fields of a row.
func linkName(row int) string    { return "link." + strconv.Itoa(row) + ".name" }
func linkAddress(row int) string { return "link." + strconv.Itoa(row) + ".address" }

// socialLinksOf are the rows of a profile by name, and one to fill in.
func socialLinksOf(links countersign.Links) (rows []socialLink) {
	for _, name := range slices.Sorted(maps.Keys(links)) {
		rows = append(rows, socialLink{name, links[name]})
	}
	return append(rows, socialLink{})
}

// postedLinks reads the rows of a form.
func postedLinks(in url.Values) (rows []socialLink) {
	for i := 0; i < maxLinks && in.Has(linkName(i)); i++ {
		rows = append(rows, socialLink{strings.TrimSpace(in.Get(linkName(i))), strings.TrimSpace(in.Get(linkAddress(i)))})
	}
	return rows
}

// linksOf are the links of the rows that are filled in.
func linksOf(rows []socialLink) countersign.Links {
	links := countersign.Links{}
	for _, l := range rows {
		if !l.empty() {
			links[l.name] = l.address
		}
	}
	return links
}

// pressed are the rows after a button of the form.
func pressed(rows []socialLink, button string) []socialLink {
	if button == "add" && len(rows) < maxLinks {
		return append(rows, socialLink{})
	}
	if row, is := strings.CutPrefix(button, "remove:"); is {
		if i, err := strconv.Atoi(row); err == nil && i >= 0 && i < len(rows) {
			return slices.Delete(rows, i, i+1)
		}
	}
	return rows
}

// wrongLinks finds rows that are filled in by half, and two of one name.
func wrongLinks(rows []socialLink) (wrong frame.Errors) {
	names := map[string]bool{}
	for i, l := range rows {
		switch {
		case l.empty():
		case l.name == "":
			wrong = append(wrong, frame.FieldError{Name: linkName(i), Text: "Type the name of the network."})
		case l.address == "":
			wrong = append(wrong, frame.FieldError{Name: linkAddress(i), Text: "Type the address, or remove the row."})
		case names[l.name]:
			wrong = append(wrong, frame.FieldError{Name: linkName(i), Text: "Another row has this name. Each network has one link."})
		}
		names[l.name] = true
	}
	return wrong
}

// linkNamed is the field of the address with a name.
func linkNamed(rows []socialLink, name string) string {
	return linkAddress(slices.IndexFunc(rows, func(l socialLink) bool { return l.name == name }))
}

// linkChanges are the links that differ.
func linkChanges(was, is countersign.Links) (all []frame.Change) {
	names := maps.Clone(was)
	if names == nil {
		names = countersign.Links{}
	}
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			all = append(all, frame.Change{Key: "profile.social_links." + name, Label: name, Before: was[name], After: is[name]})
		}
	}
	return all
}

// removeLink is the value of the button that removes a row.
func removeLink(row int) string { return "remove:" + strconv.Itoa(row) }
