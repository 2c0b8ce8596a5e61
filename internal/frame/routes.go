package frame

import "net/http"

// Routes adds the shared pages and the assets.
func (f *Frame) Routes(mux *http.ServeMux) {}
