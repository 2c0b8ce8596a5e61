package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

// getOpenAPI serves the OpenAPI 3.1 document of this face.
func (f *face) getOpenAPI(w http.ResponseWriter, r *http.Request) error {
	return f.openAPI.Serve(w, r)
}
