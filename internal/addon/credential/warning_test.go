package credential_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/must"
)

// wantWarning wants a text of the warning about API credentials, and whether it is dismissed.
func wantWarning(t testing.TB, f *addontest.Fixture, when, text string, dismissed bool) {
	t.Helper()
	w, err := f.Credentials.Warning(t.Context(), operator)
	if err != nil || w.Text() != text || w.Dismissed != dismissed || w.Any() != (text != "") {
		t.Errorf("%s: warning %q, dismissed %t, %v; want %q, %t", when, w.Text(), w.Dismissed, err, text, dismissed)
	}
}

func mustSwitch(t testing.TB, f *addontest.Fixture, id int64, half credential.Half, on bool) {
	t.Helper()
	must.Get(f.Credentials.SetActive(t.Context(), operator, id, half, on))(t)
}

func mustDismiss(t testing.TB, f *addontest.Fixture) {
	t.Helper()
	must.Get(f.Credentials.DismissWarning(t.Context(), user))(t)
}

func TestADismissedWarningComesBackWhenItsReasonChanges(t *testing.T) {
	const half, none = "The API secret of “First pair” is inactive", "No active API credentials"
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		wantWarning(t, f, "all active", "", false)
		_, err := f.Credentials.DismissWarning(t.Context(), user)
		addontest.WantError(t, err, "credential_warning_none")
		mustSwitch(t, f, 1, credential.HalfSecret, false)
		wantWarning(t, f, "half active", half, false)
		mustDismiss(t, f)
		wantWarning(t, f, "dismissed", half, true)
		wantWarning(t, f.Again(t), "dismissed, in another process", half, true)
		must.Get(f.Credentials.Rename(t.Context(), operator, 1, "Old server"))(t)
		wantWarning(t, f, "renamed", strings.Replace(half, "First pair", "Old server", 1), true)
		mustSwitch(t, f, 1, credential.HalfSecret, true)
		wantWarning(t, f, "all active again", "", false)
		mustSwitch(t, f, 1, credential.HalfSecret, false)
		wantWarning(t, f, "half active anew", strings.Replace(half, "First pair", "Old server", 1), false)
		mustDismiss(t, f)
		mustSwitch(t, f, 1, credential.HalfKey, false)
		wantWarning(t, f, "the key off as well", none, false)
		mustDismiss(t, f)
		must.Get(f.Credentials.Delete(t.Context(), operator, 1))(t)
		wantWarning(t, f, "deleted, and none was active before", none, true)
		if _, _, err := f.Credentials.Create(t.Context(), operator, "Website"); err != nil {
			t.Fatal(err)
		}
		wantWarning(t, f, "a new one", "", false)
		mustSwitch(t, f, 2, credential.HalfBoth, false)
		wantWarning(t, f, "inactive anew", none, false)
	})
}

func TestDismissalsAreWrittenDownOnce(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		mustSwitch(t, f, 1, credential.HalfBoth, false)
		start := len(f.Audits(t))
		mustDismiss(t, f)
		mustDismiss(t, f)
		if got := f.Audits(t)[start:]; len(got) != 1 || !strings.HasPrefix(got[0], "ana@site.example credential.dismiss") {
			t.Errorf("audit log %q", got)
		}
	})
}
