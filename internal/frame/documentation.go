package frame

import (
	"net/http"
	"sync"

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
	manuals   func() ([]docs.Manual, error)
	reference func() (docs.Reference, error)
}

// NewDocumentation returns the manuals for pages behind a path prefix ([Options.BasePath]), and the
// reference that an OpenAPI document describes.
func NewDocumentation(basePath string, openAPI []byte) *Documentation {
	return &Documentation{
		manuals:   sync.OnceValues(func() ([]docs.Manual, error) { return docs.Render(basePath + PathDocs) }),
		reference: sync.OnceValues(func() (docs.Reference, error) { return docs.ReadReference(openAPI) }),
	}
}

func (f *Frame) showDocs(w http.ResponseWriter, r *Request) error {
	manuals, err := f.Documentation.manuals()
	if err != nil {
		return err
	}
	reference, err := f.Documentation.reference()
	if err != nil {
		return err
	}
	return f.Show(w, r, Page{
		Title: "Documentation", Lead: "The manuals of this version, and the reference of its API.",
		Bare: true, Wide: true, Body: contentsOf(manuals, reference),
	})
}

func contentsOf(manuals []docs.Manual, reference docs.Reference) Contents {
	all := Contents{
		{Link{Label: reference.Title, Path: PathReference}, "Every endpoint with its parameters, responses and error codes."},
		{Link{Label: "OpenAPI document", Path: "/openapi.json"}, "The same for programs, as JSON."},
	}
	for _, m := range manuals {
		all = append(all, Destination{Link{Label: m.Title, Path: PathDocs + "/" + m.Name}, m.Summary})
	}
	return append(all, Destination{Link{Label: "Licenses", Path: PathLicenses}, "The licenses of the software that this program contains."})
}

func (f *Frame) showManual(w http.ResponseWriter, r *Request) error {
	manuals, err := f.Documentation.manuals()
	if err != nil {
		return err
	}
	for _, m := range manuals {
		if m.Name == r.PathValue("manual") {
			return f.Show(w, r, Page{Title: m.Title, Crumbs: toDocs, Bare: true, Wide: true, Body: manualView(m)})
		}
	}
	return fault.NotFound("manual_not_found", "No manual has this name. The list is at "+f.URL(PathDocs)+".")
}

func (f *Frame) showReference(w http.ResponseWriter, r *Request) error {
	ref, err := f.Documentation.reference()
	if err != nil {
		return err
	}
	return f.Show(w, r, Page{Title: ref.Title, Crumbs: toDocs, Bare: true, Wide: true, Body: referenceView(ref)})
}

var toDocs = []Link{{Label: "Documentation", Path: PathDocs}}

// showLicenses answers with plain text: it is long, and nobody works with it.
func (f *Frame) showLicenses(w http.ResponseWriter, r *http.Request) error {
	f.setHeaders(w, r)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(thirdparty.Licenses())) // a client that has left is nobody to tell
	return nil
}
