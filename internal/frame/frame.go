// Package frame has what all pages share: layout, components, sign-in, sessions and
// assets. A set of pages provides its menu and handlers. The frame adds the user, the
// flash, errors and headers.
package frame

//go:generate go tool templ generate

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"path"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// Options configures the frame.
type Options struct {
	// People is nil for a set of public pages: nobody signs in there, nothing is
	// kept between requests, and of the shared routes there are the assets alone.
	People *people.People
	// Log receives the causes of answers of 500 and above.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Brand is the product's name as the pages show it, for example
	// "Countersign addon". It is also the issuer that an authenticator app shows.
	Brand string
	// Command is what the program is called with at the command line, for
	// example "countersign addon"; the pages name its commands.
	Command string
	// Home is where somebody who signed in arrives, SignIn the sign-in page and
	// Account the folder of the user's own pages. The other shared pages (setup,
	// link, 2fa, logout, assets) stand beside SignIn.
	Home, SignIn, Account string
	// Cookies begins the names of the cookies, "" for "countersign".
	Cookies string
	// Menu is the side menu, below that of the [Area].
	Menu []MenuItem
	// Roles reports that some users are not administrators.
	Roles bool
	// RolesOf returns what users are besides administrators, by their ids; nil is without
	// such a column.
	RolesOf func(*Request) (map[int64][]string, error)
	// BasePath is the path of --base-url, "" or "/prefix": every link, cookie
	// and redirect begins with it.
	BasePath string
	// Origin is scheme and host of --base-url, for example
	// "https://shop.example"; "" when it is not known. Forms that come from it
	// are our own even when a proxy changes the Host header.
	Origin string
	// Secure reports that the base URL is https. Without it a request is secure when a
	// trusted proxy says that it came by https.
	Secure bool
	// Installed reports whether there are tables for users and sessions; nil means
	// that there always are. Until then every page leads to set-up help.
	Installed func() bool
	// Known is an error while it can't be told whether there are tables, because
	// the database can't be reached: then that is the answer of every page. nil
	// means that it always can.
	Known func() error
	// UpdatePage is the path of the page that installs; "" is none.
	UpdatePage string
	// SetupFile is the name of the file in the data folder that holds the set-up
	// token; "" is none.
	SetupFile string
	// DocsFolder is the folder in which visitors reach [PathDocs] and [PathLicenses], "" for the root. They are at the
	// root, too.
	DocsFolder string
	// Documentation is shown at [PathDocs], unless it is nil.
	Documentation *Documentation
	// CheckupBanner returns what every page of somebody who is signed in has to
	// say at its top; without a title that is nothing.
	CheckupBanner func(*Request) Banner
}

// MenuItem is one line of the side menu.
type MenuItem struct {
	Label, Path string
	// Icon is a name from icons.
	Icon string
	// Group is the heading above the item; items of one group follow each other.
	Group string
	// Also is another path whose pages belong to the item, "" for none.
	Also string
	// Administrators leaves the item out for other users.
	Administrators bool
}

// Area is the part of the pages that a request is about, such as a workspace.
type Area struct {
	// Link names it at the top of the menu and leads to its first page. Without a label the
	// request is about no such part.
	Link
	// Switch leads to where another area is chosen.
	Switch Link
	// Menu is the pages of the area.
	Menu []MenuItem
}

// Banner is a message at the top of all pages of somebody who is signed in.
type Banner struct {
	Kind  Kind
	Title string
	Text  string
	// Action leads to the repair; without a label there is none.
	Action Link
	// Dismiss is where a button posts to that dismisses the banner; "" is no button.
	Dismiss string
}

// Handler answers one request for a page, by [Frame.Show] or [Frame.Redirect],
// or returns an error, which becomes a page of its own. A handler that returns
// an error has written nothing.
type Handler func(w http.ResponseWriter, r *Request) error

// Frame is the frame of one set of pages.
type Frame struct {
	Options
	edge     *web.Edge
	sessions *scs.SessionManager
	origins  *http.CrossOriginProtection
	assets   *assets
	streams  streams
	// drafts are what pages are rendered into, as many at once as processors can work on: a page takes up to a
	// megabyte, which is not multiplied by the requests.
	drafts chan *bytes.Buffer
}

// installed reports whether People can be asked.
func (f *Frame) installed() bool { return f.People != nil && (f.Installed == nil || f.Installed()) }

// siblingPath returns the path of a shared page: in the folder of the sign-in page, or
// at the top where nobody signs in.
func (f *Frame) siblingPath(name string) string { return path.Join("/", path.Dir(f.SignIn), name) }

// URL is the address of one of our paths as links and redirects need it: with
// the path prefix.
func (f *Frame) URL(path string) string { return f.BasePath + path }

// asset is the address of a file from assets.
func (f *Frame) asset(name string) string { return f.URL(f.assets.folder + "/" + name) }

// Request is a request for a page, with who makes it. In a handler of
// [Frame.Public] nobody need be signed in: then Actor, User and Session are
// zero.
type Request struct {
	*http.Request
	Actor   people.Actor
	User    people.User
	Session people.SessionID
	// From is where the request comes from.
	From people.Origin
	// Area is what the handler says that the request is about.
	Area Area

	frame  *Frame
	banner Banner
	// flash is the message of the last action, and flashKind what it looks like.
	flash     string
	flashKind Kind
	// sentForm is what the form carried that was sent, see [people.People.SignForm].
	sentForm string
	// typed is what to fill into a form of the page.
	typed people.Typed
	// as is whom the session belongs to from its next save on.
	as people.User
	// maxBody is the size of the largest body that is read, in bytes.
	maxBody int64
	// begun reports that the session is a new one.
	begun bool
}

type requestKey struct{}

// requestOf finds the request that a component is rendered for, nil outside of one.
func requestOf(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}
