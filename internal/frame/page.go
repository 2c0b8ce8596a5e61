package frame

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// Page is one page: what stands inside the frame.
type Page struct {
	// Title is the name in the browser's tab, and the heading when Heading is "".
	Title string
	// Heading is the one h1.
	Heading string
	// Lead is a sentence under the heading; "" is none.
	Lead string
	// Crumbs lead from the top to here; the page itself is not among them.
	Crumbs []Link
	// Action is the one main button beside the heading, usually a [LinkButton];
	// nil is none.
	Action templ.Component
	// Status is 200 when it is 0; a form that was refused is 422.
	Status int
	Body   templ.Component
	// Bare leaves out menu and top bar, as on the sign-in page.
	Bare bool
	// Wide makes a bare page wider.
	Wide bool
	// Running is for a page about something that runs: without scripts it loads itself again every
	// 3 seconds, with them its part with [data-running] is brought up to date.
	Running bool
	// Live is for a page that follows a [Frame.Stream]: without scripts it loads itself again every 3 seconds.
	Live bool
	// Scripts are further files from assets.
	Scripts []string
}

// tab is the text of the browser's tab. It begins with what tells pages apart,
// and with a word where a form was refused.
func (p Page) tab(brand string) string {
	name := p.Title + " · " + brand
	if p.Status == http.StatusUnprocessableEntity || p.Status == http.StatusPreconditionFailed {
		return "Not saved: " + name
	}
	return name
}

func (p Page) scripts() []string {
	all := []string{"copy.js", "reveal.js", "time.js", "fold.js"}
	if p.Running {
		all = append(all, "running.js")
	}
	if p.Live {
		all = append(all, "live.js")
	}
	return append(all, p.Scripts...)
}

// menu is the side menu for the user of the request.
func (r *Request) menu() []MenuItem {
	all := slices.Concat(r.Area.Menu, r.frame.Menu)
	return slices.DeleteFunc(all, func(m MenuItem) bool { return m.Administrators && !r.User.Administrator })
}

// active is the path of the menu item that the request belongs to: the one with the longest path above it.
func (r *Request) active(menu []MenuItem) string {
	best, longest := "", 0
	for _, m := range menu {
		for _, path := range []string{m.Path, m.Also} {
			under := r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/")
			if under && len(path) > longest {
				best, longest = m.Path, len(path)
			}
		}
	}
	return best
}
