package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
)

func keyFile(place dbtest.DB) string { return filepath.Join(place.Dir, keyfile.FileName) }

func TestAMissingKeyFileIsNotReplacedAndErrorsNameTheRightOne(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		names := func(boxes ...*keyfile.Box) {
			t.Helper()
			message := storetest.MessageOf(storetest.Unprepared(t, place).Prepare(t.Context()))
			for _, box := range boxes {
				if !strings.Contains(message, keyfile.KeyName(box.Check())) {
					t.Errorf("message %q does not name %s", message, keyfile.KeyName(box.Check()))
				}
			}
		}
		first := storetest.Prepared(t, place).Instance.Gate.Box()
		remove(t, keyFile(place))
		names(first)
		second, err := keyfile.Create(place.Dir) // fails if there is one
		must.Do(t, err)
		names(first, second)
	})
}

func TestKeyGivenAsText(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		otherFolder := t.TempDir()
		must.Get(keyfile.Create(otherFolder))(t)
		content := must.Get(os.ReadFile(filepath.Join(otherFolder, keyfile.FileName)))(t)
		o := storetest.OptionsOf(place, storetest.NewClock())
		o.KeyText = string(content)
		must.Do(t, storetest.Opened(t, o).Prepare(t.Context()))
		if _, err := os.Stat(keyFile(place)); err == nil {
			t.Error("a key file was made although the key is given")
		}
		expect.NoErrorf(t, storetest.Opened(t, o).Prepare(t.Context()), "the second time")
		o.KeyText = "something else"
		err := storetest.Opened(t, o).Prepare(t.Context())
		storetest.WantError(t, err, "key_unreadable")
		if strings.Contains(storetest.MessageOf(err), "something else") {
			t.Errorf("message %q shows what was given", storetest.MessageOf(err))
		}
		storetest.WantError(t, storetest.Unprepared(t, place).Prepare(t.Context()), "key_missing")
	})
}

// Two servers share one PostgreSQL database: the second needs the key file of the
// first.
func TestSecondDataFolderOnOneDatabase(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	f := storetest.Prepared(t, place)
	second := place
	second.Dir = t.TempDir()
	err := storetest.Unprepared(t, second).Prepare(t.Context())
	storetest.WantError(t, err, "key_missing")
	if !strings.Contains(storetest.MessageOf(err), keyfile.KeyName(f.Instance.Gate.Box().Check())) {
		t.Errorf("message %q does not say which key file belongs here", storetest.MessageOf(err))
	}
	content := must.Get(os.ReadFile(keyFile(place)))(t)
	write(t, keyFile(second), string(content))
	expect.NoError(t, storetest.Unprepared(t, second).Prepare(t.Context()))
}
