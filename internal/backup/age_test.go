package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestAnEncryptedBackupNeedsItsIdentity(t *testing.T) {
	identity, errIdentity := age.GenerateX25519Identity()
	other, errOther := age.GenerateX25519Identity()
	if errIdentity != nil || errOther != nil {
		t.Fatal(errIdentity, errOther)
	}
	p := at(t, template.New(t, dbtest.SQLite))
	to := must.Get(backup.ParseRecipient(identity.Recipient().String()))(t)
	made := p.create(t, backup.CreateOptions{Recipients: []age.Recipient{to}, KeyFile: true})
	text, err := os.ReadFile(made.File)
	if err != nil || filepath.Ext(made.File) != ".age" || bytes.Contains(text, []byte("countersign")) {
		t.Errorf("%s, %v", made.File, err)
	}
	for _, wrong := range [][]age.Identity{nil, {other}} {
		_, err := p.backups.Verify(t.Context(), backup.Source{File: made.File, Identities: wrong})
		wantCode(t, err, countersign.KindInvalid, backup.CodeEncrypted)
	}
	info, err := p.backups.Verify(t.Context(), backup.Source{File: made.File, Identities: []age.Identity{identity}})
	if err != nil || !info.Encrypted || info.Rows() != made.Info.Rows() {
		t.Errorf("%+v, %v", info, err)
	}
}
