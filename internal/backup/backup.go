// Package backup writes all of a service into one file while it runs, verifies such files, and
// restores them, on either engine.
//
// A backup is a tar archive that is compressed by gzip, and encrypted by age where recipients
// are named. Its members come in this order:
//
//	header.json                what the backup is of, and the columns of its tables
//	tables/NAME/000001.jsonl   rows, each an array in the order of the columns
//	media/KEY                  uploaded files
//	countersign.key            the key file, when it was asked for
//	manifest.json              counts and sums of all of it; a file without it is not complete
package backup

import (
	"encoding/hex"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// formatVersion is the version of the format that this package writes, and the only one it reads.
const formatVersion = 1

// The codes of errors about backups.
const (
	// CodeDamaged is that of a file that is not a whole backup, or has other content than when it
	// was written.
	CodeDamaged = "backup_damaged"
	// CodeNewer is that of a backup that a later version of the program wrote.
	CodeNewer = "backup_newer"
	// CodeEncrypted is that of an encrypted backup that no given identity opens.
	CodeEncrypted = "backup_encrypted"
	// CodeNotFound is that of a backup that does not exist.
	CodeNotFound = "backup_not_found"
	// CodeKeyFile is that of a backup that belongs to another key file, and does not hold it.
	CodeKeyFile = "backup_key_file"
	// CodeRunning is that of a second backup into a folder at the same time.
	CodeRunning = "backup_running"
	// CodeFilesMissing is that of a backup that lacks uploaded files, and of one that was not written because their
	// whole folder is missing.
	CodeFilesMissing = "backup_files_missing"
)

// Header is what a backup says of itself at its begin.
type Header struct {
	Format    int             `json:"format"`
	Service   keyfile.Service `json:"service"`
	Engine    sqldb.Engine    `json:"engine"`
	CreatedAt time.Time       `json:"created_at"`
	// Key is the check value of the key file that the content belongs to.
	Key     string `json:"key"`
	KeyFile bool   `json:"key_file"`
	Media   bool   `json:"media"`
	// Versions are those of the schemas.
	Versions  map[string]int64 `json:"versions"`
	Sequences map[string]int64 `json:"sequences"`
	Tables    []sqldb.Table    `json:"tables"`
}

// build fills a database as the backup describes it.
func (h Header) build(fill func(sqldb.Load) error) sqldb.Build {
	return sqldb.Build{Versions: h.Versions, Sequences: h.Sequences, Fill: fill}
}

// Manifest is at the end of a backup.
type Manifest struct {
	// Tables are the counts and sums of the rows, by the table's name.
	Tables map[string]Sum `json:"tables"`
	// Media are those of the uploaded files.
	Media Sum `json:"media"`
	// Content is the SHA-256 of all members before, in hexadecimal digits.
	Content string `json:"content"`
	// MAC authenticates Content under the key file, in hexadecimal digits; "" in backups of earlier versions.
	MAC string `json:"mac,omitempty"`
}

// Authenticity says whether a backup is known to be as its service wrote it.
type Authenticity string

// The authenticity of a backup. One that was changed is damaged.
const (
	// Authentic is one whose authentication code was made with the key file that is here.
	Authentic Authenticity = "yes"
	// NoCode is one without an authentication code: earlier versions wrote none.
	NoCode Authenticity = "no: it has no authentication code, as those of earlier versions"
	// NoKey is one whose key file is not here.
	NoKey Authenticity = "not checked: its key file is not here"
)

// macPurpose is that of the authentication code of a backup.
const macPurpose = "backup"

// mac returns the authentication code of a backup whose members have a sum.
func mac(box *keyfile.Box, content string) string {
	code := box.MAC(macPurpose, []byte(content))
	return hex.EncodeToString(code[:])
}

// CodeWithoutCode is the code of the error about a backup that may have been changed.
const CodeWithoutCode = "backup_without_code"

var errWithoutCode = fault.Invalid(CodeWithoutCode, "The backup has no authentication code: an earlier version wrote it, or somebody has changed it")

var errOtherKey = fault.Invalid(CodeWithoutCode, "The key file here does not authenticate the backup: it belongs to another key file, or somebody has changed it")

// authenticate is an error when somebody changed a backup who does not have the key file.
func (s *Service) authenticate(from Source, h Header, m Manifest) (Authenticity, error) {
	box, err := s.Location.Load()
	if err != nil || !box.Matches(h.Key) {
		return NoKey, nil //nolint:nilerr // a backup can be read without the key file
	}
	if m.MAC == "" {
		if !from.WithoutCode {
			return "", errWithoutCode
		}
		return NoCode, nil
	}
	code, err := hex.DecodeString(m.MAC)
	if err != nil || !box.ValidMAC(macPurpose, []byte(m.Content), code) {
		return "", damaged("it was changed after it was written, because its authentication code is not that of the key file", err)
	}
	return Authentic, nil
}

// Info describes a backup.
type Info struct {
	Header   Header
	Manifest Manifest
	// Encrypted reports that age encrypted the file.
	Encrypted bool
	// Lacks are the uploaded files that its rows refer to, and that it does not have as they were uploaded.
	Lacks []blob.Lack
	// Authenticity is "" for a backup that was not read.
	Authenticity Authenticity
}

// Rows is the number of rows in all tables.
func (i Info) Rows() (n int64) {
	for _, s := range i.Manifest.Tables {
		n += s.Count
	}
	return n
}

func damaged(what string, cause error) error {
	return fault.WithCause(fault.Invalid(CodeDamaged, "The backup is damaged: "+what), cause)
}
