package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
)

// Source is a backup that is read.
type Source struct {
	// File is its path, or its name in Bucket.
	File   string
	Bucket *blob.Bucket
	// Identities decrypt it; they are not needed for one that is not encrypted.
	Identities []age.Identity
	// WithoutCode accepts a backup without an authentication code where its key file is: earlier versions wrote none.
	WithoutCode bool
}

// ageBegin is how a file begins that age encrypted.
const ageBegin = "age-encryption.org/v1\n"

// open begins to read the backup. Close what it returns.
func (s Source) open(ctx context.Context) (r *Reader, encrypted bool, done io.Closer, err error) {
	file, err := s.file(ctx)
	if err != nil {
		return nil, false, nil, err
	}
	from := bufio.NewReader(file)
	begin, _ := from.Peek(len(ageBegin)) // a shorter file is not a backup
	plain := io.Reader(from)
	if encrypted = string(begin) == ageBegin; encrypted {
		plain, err = s.decrypt(from)
	}
	if err == nil {
		r, err = NewReader(plain)
	}
	if err != nil {
		_ = file.Close()
		return nil, encrypted, nil, err
	}
	return r, encrypted, file, nil
}

func (s Source) file(ctx context.Context) (io.ReadCloser, error) {
	if s.Bucket != nil {
		file, err := s.Bucket.Read(ctx, s.File)
		if errors.Is(err, blob.ErrNotFound) {
			return nil, fault.NotFound(CodeNotFound, fmt.Sprintf("No backup %s in %s", s.File, s.Bucket))
		}
		return file, err
	}
	info, err := os.Stat(s.File)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fault.NotFound(CodeNotFound, "No backup "+s.File+": it is not a regular file")
	}
	file, err := os.Open(s.File)
	if err != nil {
		return nil, fault.WithCause(fault.NotFound(CodeNotFound, fmt.Sprintf("The backup %s can't be read (%v)", s.File, fault.FileReason(err))), err)
	}
	return file, nil
}

func (s Source) decrypt(from io.Reader) (io.Reader, error) {
	if len(s.Identities) == 0 {
		return nil, fault.Invalid(CodeEncrypted, "The backup is encrypted")
	}
	plain, err := age.Decrypt(from, s.Identities...)
	if wrong, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, fault.WithCause(fault.Invalid(CodeEncrypted, "The backup is encrypted for others"), wrong)
	}
	if err != nil {
		return nil, damaged("its encryption can't be read", err)
	}
	return plain, nil
}

// ParseRecipient reads an age recipient, like age1….
func ParseRecipient(text string) (age.Recipient, error) {
	all, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil || len(all) != 1 {
		return nil, fault.WithCause(fault.Invalid("backup_recipient", fmt.Sprintf("Invalid recipient %.80q: expected the public key of age-keygen, which begins with age1", text)), err)
	}
	return all[0], nil
}

// ParseRecipients reads age recipients, as [ParseRecipient] does.
func ParseRecipients(texts []string) (all []age.Recipient, err error) {
	for _, text := range texts {
		one, err := ParseRecipient(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ReadIdentities reads a file with age identities, as age-keygen writes it.
func ReadIdentities(path string) ([]age.Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.WithCause(fault.NotFound("backup_identity", fmt.Sprintf("The file of identities %s can't be read (%v)", path, fault.FileReason(err))), err)
	}
	defer f.Close()
	all, err := age.ParseIdentities(io.LimitReader(f, maxKeyFile<<4))
	if err != nil { // it may quote a line, which is secret
		return nil, fault.Invalid("backup_identity", "The file "+path+" holds no identities of age: expected lines that begin with AGE-SECRET-KEY-1")
	}
	return all, nil
}
