package addon

import (
	"strings"
	"testing"
)

// wantWarning wants a text of the warning about API credentials, and whether it is dismissed.
func (f *fixture) wantWarning(t testing.TB, when, text string, dismissed bool) {
	t.Helper()
	w, err := f.CredentialWarning(t.Context(), operator)
	if err != nil || w.Text() != text || w.Dismissed != dismissed || w.Any() != (text != "") {
		t.Errorf("%s: warning %q, dismissed %t, %v; want %q, %t", when, w.Text(), w.Dismissed, err, text, dismissed)
	}
}

func (f *fixture) mustSwitch(t testing.TB, id int64, half Half, on bool) {
	t.Helper()
	if _, err := f.SetCredentialActive(t.Context(), operator, id, half, on); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) mustDismiss(t testing.TB) {
	t.Helper()
	if _, err := f.DismissCredentialWarning(t.Context(), user); err != nil {
		t.Fatal(err)
	}
}

func TestADismissedWarningComesBackWhenItsReasonChanges(t *testing.T) {
	const half, none = "The API secret of “First pair” is inactive", "No active API credentials"
	engines(t, func(t *testing.T, f *fixture) {
		f.wantWarning(t, "all active", "", false)
		_, err := f.DismissCredentialWarning(t.Context(), user)
		wantError(t, err, "credential_warning_none")
		f.mustSwitch(t, 1, HalfSecret, false)
		f.wantWarning(t, "half active", half, false)
		f.mustDismiss(t)
		f.wantWarning(t, "dismissed", half, true)
		f.again(t).wantWarning(t, "dismissed, in another process", half, true)
		if _, err := f.RenameCredential(t.Context(), operator, 1, "Old server"); err != nil {
			t.Fatal(err)
		}
		f.wantWarning(t, "renamed", strings.Replace(half, "First pair", "Old server", 1), true)
		f.mustSwitch(t, 1, HalfSecret, true)
		f.wantWarning(t, "all active again", "", false)
		f.mustSwitch(t, 1, HalfSecret, false)
		f.wantWarning(t, "half active anew", strings.Replace(half, "First pair", "Old server", 1), false)
		f.mustDismiss(t)
		f.mustSwitch(t, 1, HalfKey, false)
		f.wantWarning(t, "the key off as well", none, false)
		f.mustDismiss(t)
		if _, err := f.DeleteCredential(t.Context(), operator, 1); err != nil {
			t.Fatal(err)
		}
		f.wantWarning(t, "deleted, and none was active before", none, true)
		if _, _, err := f.CreateCredential(t.Context(), operator, "Website"); err != nil {
			t.Fatal(err)
		}
		f.wantWarning(t, "a new one", "", false)
		f.mustSwitch(t, 2, HalfBoth, false)
		f.wantWarning(t, "inactive anew", none, false)
	})
}

func TestDismissalsAreWrittenDownOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustSwitch(t, 1, HalfBoth, false)
		start := len(f.audits(t))
		f.mustDismiss(t)
		f.mustDismiss(t)
		if got := f.audits(t)[start:]; len(got) != 1 || !strings.HasPrefix(got[0], "ana@site.example credential.dismiss") {
			t.Errorf("audit log %q", got)
		}
	})
}
