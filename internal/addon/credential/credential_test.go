package credential_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/token"
)

func TestPairIsMadeShownAndRotated(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.Credentials.Create(ctx, operator, " App server ")
		must.Do(t, err)
		if c.Label != "App server" || !c.Active() || !token.Valid("cak_", pair.Key) || !token.Valid("cas_", pair.Secret) {
			t.Errorf("%+v", c)
		}
		if c.Key != token.Hint(pair.Key) || c.Secret != token.Hint(pair.Secret) || fmt.Sprintf("%v|%+v|%s", pair, pair, pair) != strings.Repeat("|(API key and secret)", 3)[1:] {
			t.Errorf("a list shows %q and %q, a text %v", c.Key, c.Secret, pair)
		}
		_, shown, err := f.Credentials.Reveal(ctx, user, c.ID)
		if err != nil || shown != pair {
			t.Errorf("revealed another pair: %v", err)
		}
		_, rotated, err := f.Credentials.Rotate(ctx, operator, c.ID)
		if err != nil || rotated.Key == pair.Key || rotated.Secret == pair.Secret {
			t.Errorf("not rotated: %v", err)
		}
		_, err = f.Credentials.Basic(ctx, client, pair.Key, pair.Secret)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Credentials.Basic(ctx, client, rotated.Key, rotated.Secret)
		addontest.WantError(t, err, "")
		_, _, err = f.Credentials.Create(ctx, operator, "App server")
		addontest.WantError(t, err, "label_exists")
		for _, label := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
			_, _, err = f.Credentials.Create(ctx, operator, label)
			addontest.WantFields(t, err, "label")
		}
		lines := strings.Join(f.Audits(t), "\n")
		for _, want := range []string{
			"tester credential.create 2 App server [cli]:  -> key active, secret active",
			"ana@site.example credential.reveal 2 App server [page]:  -> ",
			"tester credential.rotate 2 App server [cli]: " + c.Key + " -> " + token.Hint(rotated.Key),
		} {
			if !strings.Contains(lines, want) {
				t.Errorf("no line %q in\n%s", want, lines)
			}
		}
		for _, secret := range []string{pair.Key, pair.Secret, rotated.Key, rotated.Secret} {
			if strings.Contains(f.Everything(t), secret) || strings.Contains(f.Log.String(), secret) {
				t.Error("a value is written in clear")
			}
		}
	})
}

func TestMissingPairs(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, errFind := f.Credentials.Find(ctx, operator, 9)
		_, _, errReveal := f.Credentials.Reveal(ctx, operator, 9)
		_, _, errRotate := f.Credentials.Rotate(ctx, operator, 9)
		_, errSetActive := f.Credentials.SetActive(ctx, operator, 9, credential.HalfBoth, true)
		_, errRename := f.Credentials.Rename(ctx, operator, 9, "x")
		_, errDelete := f.Credentials.Delete(ctx, operator, 9)
		for _, err := range []error{errFind, errReveal, errRotate, errSetActive, errRename, errDelete} {
			addontest.WantError(t, err, "credential_not_found")
		}
		_, err := f.Credentials.SetActive(ctx, operator, 1, "neither", true)
		addontest.WantFields(t, err, "half")
	})
}

// Every combination of the two switches; a call needs both.
func TestCallsNeedBothHalves(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.Credentials.Create(ctx, operator, "App server")
		must.Do(t, err)
		for i, halves := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			must.Get(f.Credentials.SetActive(ctx, operator, c.ID, credential.HalfKey, halves[0]))(t)
			got, err := f.Credentials.SetActive(ctx, operator, c.ID, credential.HalfSecret, halves[1])
			if err != nil || got.KeyActive != halves[0] || got.SecretActive != halves[1] {
				t.Fatalf("%+v, %v", got, err)
			}
			want := "credential_inactive"
			if i == 0 {
				want = ""
			}
			_, err = f.Credentials.Basic(ctx, client, pair.Key, pair.Secret)
			addontest.WantError(t, err, want)
			_, err = f.Credentials.Signed(ctx, client, signed(f, pair, "nonce-000"+strconv.Itoa(i)))
			addontest.WantError(t, err, want)
			// Who can't prove the secret does not learn of the switches.
			_, err = f.Credentials.Basic(ctx, client, pair.Key, "cas_wrong")
			addontest.WantError(t, err, "credential_unknown")
		}
		if got, err := f.Credentials.SetActive(ctx, operator, c.ID, credential.HalfBoth, true); err != nil || !got.Active() {
			t.Errorf("%+v, %v", got, err)
		}
		lines := f.Audits(t)
		if want := "tester credential.activate 2 App server [cli]: key inactive, secret inactive -> key active, secret active"; lines[len(lines)-1] != want {
			t.Errorf("audit %q, want %q", lines[len(lines)-1], want)
		}
	})
}

func TestCredentialsAreRenamed(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, pair, err := f.Credentials.Create(ctx, operator, "App server")
		must.Do(t, err)
		got, err := f.Credentials.Rename(ctx, user, 2, " Shop server ")
		if err != nil || got.Label != "Shop server" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := f.Credentials.Basic(ctx, client, pair.Key, pair.Secret); err != nil {
			t.Errorf("renamed credentials do not work: %v", err)
		}
		log := f.Audits(t)
		if want := "ana@site.example credential.rename 2 Shop server [page]: App server -> Shop server"; log[len(log)-1] != want {
			t.Errorf("audit %q, want %q", log[len(log)-1], want)
		}
		if _, err := f.Credentials.Rename(ctx, user, 2, "Shop server"); err != nil || len(f.Audits(t)) != len(log) {
			t.Errorf("the same label is a change: %v", err)
		}
		_, err = f.Credentials.Rename(ctx, user, 2, "First pair")
		addontest.WantError(t, err, "label_exists")
		for _, label := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
			_, err = f.Credentials.Rename(ctx, user, 2, label)
			addontest.WantFields(t, err, "label")
		}
	})
}

func TestOnlyDeactivatedCredentialsAreDeleted(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.Credentials.Create(ctx, operator, "App server")
		must.Do(t, err)
		for _, half := range []credential.Half{credential.HalfKey, credential.HalfSecret} {
			_, err = f.Credentials.Delete(ctx, operator, c.ID)
			addontest.WantError(t, err, "credential_active")
			mustSwitch(t, f, c.ID, half, false)
		}
		if _, err = f.Credentials.Basic(ctx, client, pair.Key, pair.Secret); addontest.CodeOf(err) != "credential_inactive" {
			t.Errorf("error %v", err)
		}
		gone, err := f.Credentials.Delete(ctx, user, c.ID)
		if err != nil || gone.Label != "App server" {
			t.Errorf("%+v, %v", gone, err)
		}
		_, err = f.Credentials.Basic(ctx, client, pair.Key, pair.Secret)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Credentials.Find(ctx, operator, c.ID)
		addontest.WantError(t, err, "credential_not_found")
		log := f.Audits(t)
		if want := "ana@site.example credential.delete 2 App server [page]: " + c.Key + " -> "; log[len(log)-1] != want {
			t.Errorf("audit %q, want %q", log[len(log)-1], want)
		}
		f.Credentials.WriteUses(ctx)
		if again, _, err := f.Credentials.Create(ctx, operator, "App server"); err != nil || again.ID == c.ID {
			t.Errorf("the label is not free, or the id is used again: %+v, %v", again, err)
		}
	})
}

func TestLastUseIsWrittenInBatches(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, pair, err := f.Credentials.Reveal(ctx, operator, 1)
		must.Do(t, err)
		for i := range 3 {
			must.Get(f.Credentials.Basic(ctx, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), pair.Key, pair.Secret))(t)
		}
		_, _ = f.Credentials.Basic(ctx, client, pair.Key, "wrong")
		if c, err := f.Credentials.Find(ctx, operator, 1); err != nil || c.UsedCount != 0 || !c.LastUsedAt.IsZero() {
			t.Errorf("written at once: %+v, %v", c, err)
		}
		f.Credentials.WriteUses(ctx)
		if c, err := f.Credentials.Find(ctx, operator, 1); err != nil || c.UsedCount != 3 || !c.LastUsedAt.Equal(noon) || c.LastUsedFrom != "192.0.2.2" {
			t.Errorf("%+v, %v", c, err)
		}
	})
}
