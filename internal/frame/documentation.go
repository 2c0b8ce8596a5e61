package frame

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/thirdparty"
)

// PathDocs is the table of contents of the manuals; a manual's path is below it.
const PathDocs = "/docs"

// PathReference is the reference of the API.
const PathReference = PathDocs + "/api"

// PathLicenses is the licenses of the software that the program contains.
const PathLicenses = "/licenses"

// Documentation is the manuals and the reference of an API. Both are rendered when they are first
// shown, and fail only for a build whose documents are broken.
type Documentation struct {
	manuals   func() ([]manual, error)
	reference func() (reference, error)
}

// manual and reference have a body that was rendered: that takes milliseconds, and strangers may ask for it.
type (
	manual struct {
		docs.Manual
		body templ.Component
	}
	reference struct {
		docs.Reference
		body templ.Component
	}
)

// NewDocumentation returns the manuals for pages behind a path prefix ([Options.BasePath] and DocsFolder), and the
// reference that an OpenAPI document describes.
func NewDocumentation(basePath string, openAPI []byte) *Documentation {
	return &Documentation{
		manuals: sync.OnceValues(func() ([]manual, error) {
			all, err := docs.Render(basePath + PathDocs)
			rendered := make([]manual, len(all))
			for i, m := range all {
				rendered[i] = manual{m, rendering(manualView(m))}
			}
			return rendered, err
		}),
		reference: sync.OnceValues(func() (reference, error) {
			ref, err := docs.ReadReference(openAPI)
			return reference{ref, rendering(referenceView(ref))}, err
		}),
	}
}

// rendering is what a component writes that is the same for all requests.
func rendering(c templ.Component) templ.Component {
	var b strings.Builder
	err := c.Render(context.Background(), &b)
	return templ.Raw(b.String(), err)
}

func (f *Frame) showDocs(w http.ResponseWriter, r *Request) error {
	manuals, err := f.Documentation.manuals()
	if err != nil {
		return err
	}
	ref, err := f.Documentation.reference()
	if err != nil {
		return err
	}
	return f.Show(w, r, Page{
		Title: "Documentation", Lead: "The manuals of this version, and the reference of its API.",
		Bare: true, Wide: true, Body: contentsOf(f.DocsFolder, manuals, ref),
	})
}

func contentsOf(folder string, manuals []manual, ref reference) Contents {
	all := Contents{
		{Link{Label: ref.Title, Path: folder + PathReference}, "Every endpoint with its parameters, responses and error codes."},
		{Link{Label: "OpenAPI document", Path: folder + "/openapi.json"}, "The same for programs, as JSON."},
	}
	for _, m := range manuals {
		all = append(all, Destination{Link{Label: m.Title, Path: folder + PathDocs + "/" + m.Name}, m.Summary})
	}
	return append(all, Destination{Link{Label: "Licenses", Path: folder + PathLicenses}, "The licenses of the software that this program contains."})
}

func (f *Frame) showManual(w http.ResponseWriter, r *Request) error {
	manuals, err := f.Documentation.manuals()
	if err != nil {
		return err
	}
	for _, m := range manuals {
		if m.Name == r.PathValue("manual") {
			return f.Show(w, r, Page{Title: m.Title, Crumbs: f.toDocs(), Bare: true, Wide: true, Body: m.body})
		}
	}
	return fault.NotFound("manual_not_found", "No manual has this name. The list is at "+f.URL(f.DocsFolder+PathDocs)+".")
}

func (f *Frame) showReference(w http.ResponseWriter, r *Request) error {
	ref, err := f.Documentation.reference()
	if err != nil {
		return err
	}
	return f.Show(w, r, Page{Title: ref.Title, Crumbs: f.toDocs(), Bare: true, Wide: true, Body: ref.body})
}

// toDocs leads from a page to the manuals; it is empty without them.
func (f *Frame) toDocs() []Link {
	if f.Documentation == nil {
		return nil
	}
	return []Link{{Label: "Documentation", Path: f.DocsFolder + PathDocs}}
}

// showLicenses answers with plain text: it is long, and nobody works with it.
func (f *Frame) showLicenses(w http.ResponseWriter, r *http.Request) error {
	f.setHeaders(w, r)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(thirdparty.Licenses())) // a client that has left is nobody to tell
	return nil
}
