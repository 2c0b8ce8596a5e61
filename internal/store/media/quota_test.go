package media_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestTheFilesOfAWorkspaceHaveAQuota(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		o := storetest.OptionsOf(f.At, f.Clock)
		o.UploadQuota = 1000
		s := storetest.Open(t, f.At, o)
		upload := func(item, announced, size int64, meanwhile func()) string {
			t.Helper()
			var from io.Reader = strings.NewReader(strings.Repeat("x", int(size)))
			if meanwhile != nil {
				from = io.MultiReader(from, call(meanwhile))
			}
			_, err := s.Media.SetItem(t.Context(), storetest.Operator, item, media.File, media.Upload{Name: "rain.zip", Size: announced, From: from})
			if fault.Of(err) == nil && err != nil {
				t.Fatal(err)
			}
			return storetest.CodeOf(err)
		}
		used := func(want int64) {
			t.Helper()
			i := must.Get(f.DB().Item(t.Context(), 1))(t)
			if u, err := s.Media.Usage(t.Context(), storetest.Operator, i.WorkspaceID); err != nil || u.Used != want || u.Quota != 1000 {
				t.Errorf("%+v, %v, want %d", u, err, want)
			}
		}
		for _, c := range []struct {
			rule            string
			announced, size int64
			code            string
			used            int64
		}{
			{"a file within it", 0, 600, "", 600},
			{"one that says that it is larger than the rest", 401, 10, "upload_quota", 600},
			{"one that does not say so", 0, 401, "upload_quota", 600},
			{"one that fills it in place of another, which counts for a day", 400, 400, "", 1000},
			{"one more byte", 0, 1, "upload_quota", 1000},
		} {
			expect.Equalf(t, upload(1, c.announced, c.size, nil), c.code, "%s", c.rule)
			used(c.used)
		}
		expect.Equalf(t, upload(3, 0, 900, nil), "", "another workspace")
		wantQuota(t, s, health.Warn, "ada")
		for range 2 { // it notes first what nothing refers to
			must.Do(t, s.Media.Sweep(t.Context()))
			f.Clock.Move(24 * time.Hour)
		}
		used(400)
		wantQuota(t, s, health.OK, "room")
		expect.Equalf(t, upload(1, 0, 300, func() { upload(1, 0, 400, nil) }), "upload_quota", "two at once")
		used(800)
	})
}

// call is an empty reader that calls a function first.
type call func()

// Read implements [io.Reader].
func (c call) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

func wantQuota(t *testing.T, s *store.Store, level health.Level, says string) {
	t.Helper()
	findings := must.Get(s.Health(t.Context(), storetest.Operator))(t)
	at := slices.IndexFunc(findings, func(one health.Finding) bool { return one.Name == "upload quota" })
	if at < 0 || findings[at].Level != level || !strings.Contains(findings[at].What, says) {
		t.Errorf("%+v", findings)
	}
}
