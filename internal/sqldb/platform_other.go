//go:build !unix

package sqldb

const noFollow = 0

// lockName is the file whose lock is that of another file. On Windows nobody else can read what is
// locked, not even the same process.
func lockName(path string) string { return path + ".lock" }

// replacesOpenFiles reports that a file that is open can be replaced by renaming another one.
const replacesOpenFiles = false

// SyncFolder does nothing: Windows does not sync folders.
func SyncFolder(string) error { return nil }
