package pages_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
)

func TestPagesAreNotSaidToBeUninstalledWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	a, err := addon.Open(t.Context(), addon.Options{Options: instance.Options{Dir: t.TempDir()}}) // and nobody has looked into it yet
	must.Do(t, err)
	t.Cleanup(func() { _ = a.Close() })
	framed := must.Get(frame.New(pages.FrameOptions(a)))(t)
	handler := web.NewEdge(web.Options{}).Handler(pages.New(pages.Options{Addon: a, Frame: framed}))
	for _, path := range []string{pages.PathDashboard, pages.PathSignIn, pages.PathUpdate, "/admincp/setup", "/"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("GET %s: %d, Retry-After %q", path, w.Code, w.Header().Get("Retry-After"))
		}
	}
}
