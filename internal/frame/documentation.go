package frame

import (
	"net/http"

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

// Documentation is the manuals and the reference of an API, ready to show.
type Documentation struct {
	manuals   []docs.Manual
	reference docs.Reference
}

// NewDocumentation renders the manuals for pages behind a path prefix ([Options.BasePath])
// and arranges an OpenAPI document. It fails only for a build whose documents are broken.
func NewDocumentation(basePath string, openAPI []byte) (*Documentation, error) {
	manuals, err := docs.Render(basePath + PathDocs)
	if err != nil {
		return nil, err
	}
	reference, err := docs.ReadReference(openAPI)
	if err != nil {
		return nil, err
	}
	return &Documentation{manuals, reference}, nil
}

func (f *Frame) showDocs(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, Page{
		Title: "Documentation", Lead: "The manuals of this version, and the reference of its API.",
		Bare: true, Wide: true, Body: f.Documentation.contents(),
	})
}

func (d *Documentation) contents() Contents {
	all := Contents{
		{Link{Label: d.reference.Title, Path: PathReference}, "Every endpoint with its parameters, responses and error codes."},
		{Link{Label: "OpenAPI document", Path: "/openapi.json"}, "The same for programs, as JSON."},
	}
	for _, m := range d.manuals {
		all = append(all, Destination{Link{Label: m.Title, Path: PathDocs + "/" + m.Name}, m.Summary})
	}
	return append(all, Destination{Link{Label: "Licenses", Path: PathLicenses}, "The licenses of the software that this program contains."})
}

func (f *Frame) showManual(w http.ResponseWriter, r *Request) error {
	for _, m := range f.Documentation.manuals {
		if m.Name == r.PathValue("manual") {
			return f.Show(w, r, Page{Title: m.Title, Crumbs: toDocs, Bare: true, Wide: true, Body: manualView(m)})
		}
	}
	return fault.NotFound("manual_not_found", "No manual has this name. The list is at "+f.URL(PathDocs)+".")
}

func (f *Frame) showReference(w http.ResponseWriter, r *Request) error {
	ref := f.Documentation.reference
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
