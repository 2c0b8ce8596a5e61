package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/wording"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxSize is how large a configuration file may be, in bytes.
const maxSize = 64 << 10

// File is a configuration file. A nil file has no settings.
type File struct {
	// Path is its name.
	Path string
	// Public reports that all users of the machine can read it.
	Public bool
	// Explicit reports that a flag or a variable names the file.
	Explicit bool
	entries  map[string]entry
}

// entry is a line that sets something. A list can go on in the next lines.
type entry struct {
	line  int
	value any
}

// Has reports whether the file sets a key.
func (f *File) Has(key string) bool {
	if f == nil {
		return false
	}
	_, has := f.entries[key]
	return has
}

// Read reads the file at a path. Its errors name the line that is wrong, and wrap fs.ErrNotExist
// for a missing file. They contain no values.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the configuration file %s does not exist%w", cli.Safe(path), silent{err})
	case err != nil:
		return nil, unreadable(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file; name a file with settings", cli.Safe(path))
	case writable(info):
		return nil, fmt.Errorf("every user of this machine can change the configuration file %s; check it, then run: chmod o-w %[1]s", cli.Safe(path))
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, maxSize+1))
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(text) > maxSize:
		return nil, fmt.Errorf("the configuration file %s is larger than %s; name a file with settings", cli.Safe(path), wording.Size(maxSize))
	}
	f, err := Parse(path, text)
	if err == nil {
		f.Public = readable(info)
	}
	return f, err
}

func unreadable(path string, err error) error {
	return fmt.Errorf("the configuration file %s can't be read (%v)%w", cli.Safe(path), fault.FileReason(err), silent{err})
}

// silent is a cause that its error has described already.
type silent struct{ error }

// Error implements error.
func (silent) Error() string { return "" }

// Unwrap returns the cause.
func (s silent) Unwrap() error { return s.error }

// writable reports whether all users can change a file. Windows has other permissions, which Go does not read.
func writable(info os.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0
}

// readable reports whether all users can read a file, where that is known.
func readable(info os.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0
}

// Parse reads the text of the file at a path.
func Parse(path string, text []byte) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // Windows editors write it
	f := &File{Path: path, entries: map[string]entry{}}
	values := map[string]any{}
	wrong := f.readLines(text)
	if len(wrong) == 0 {
		wrong = f.syntax(toml.Unmarshal(text, &values))
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	for key, e := range f.entries {
		e.value = values[key]
		f.entries[key] = e
	}
	return f, nil
}

// readLines notes the line of each key and returns what is wrong with the lines.
func (f *File) readLines(text []byte) (wrong []string) {
	var p unstable.Parser
	p.Reset(text)
	line := func(raw unstable.Range) int { return 1 + bytes.Count(text[:raw.Offset], []byte("\n")) }
	for p.NextExpression() {
		expression := p.Expression()
		var parts []string
		first := 0
		for key := expression.Key(); key.Next(); {
			if len(parts) == 0 {
				first = line(key.Node().Raw)
			}
			parts = append(parts, string(key.Node().Data))
		}
		name := strings.Join(parts, ".")
		switch before, twice := f.entries[name]; {
		case expression.Kind != unstable.KeyValue:
			wrong = append(wrong, f.at(first, fmt.Sprintf("[%s] begins a table; remove the line, the settings have no groups", cli.Safe(name))))
		case len(parts) > 1:
			wrong = append(wrong, f.at(first, fmt.Sprintf("unknown setting %q", cli.Safe(name))))
		case twice:
			wrong = append(wrong, f.at(first, fmt.Sprintf("%s is set again, after line %d; remove one of them", cli.Safe(name), before.line)))
		default:
			f.entries[name] = entry{line: first}
		}
	}
	if syntax, ok := errors.AsType[*unstable.ParserError](p.Error()); ok {
		wrong = append(wrong, f.at(line(p.Range(syntax.Highlight)), "not valid TOML: "+cli.Safe(syntax.Message)+quotesNeeded))
	} else {
		wrong = append(wrong, f.syntax(p.Error())...)
	}
	return wrong
}

const quotesNeeded = `; write lines like name = "text"`

// syntax returns what the decoder found wrong, none for nil.
func (f *File) syntax(err error) []string {
	if err == nil {
		return nil
	}
	message := "not valid TOML: " + cli.Safe(strings.TrimPrefix(err.Error(), "toml: ")) + quotesNeeded
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return []string{f.at(line, message)}
	}
	return []string{cli.Safe(f.Path) + ": " + message}
}

// at says that something is wrong with a line.
func (f *File) at(line int, what string) string {
	return fmt.Sprintf("%s:%d: %s", cli.Safe(f.Path), line, what)
}

// Check compares the file with the settings that it may have. Its error names all lines that are wrong.
func (f *File) Check(all []Setting) error {
	if f == nil {
		return nil
	}
	var wrong []string
	for _, key := range f.keys() {
		e := f.entries[key]
		i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
		if i < 0 {
			wrong = append(wrong, f.at(e.line, fmt.Sprintf("unknown setting %q%s", cli.Safe(key), cli.DidYouMean(key, names(all)))))
		} else if _, err := all[i].texts(f, e); err != nil {
			wrong = append(wrong, f.at(e.line, err.Error()))
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// keys lists the keys in the order of their lines.
func (f *File) keys() []string {
	all := make([]string, 0, len(f.entries))
	for key := range f.entries {
		all = append(all, key)
	}
	slices.SortFunc(all, func(a, b string) int {
		if by := f.entries[a].line - f.entries[b].line; by != 0 {
			return by
		}
		return strings.Compare(a, b)
	})
	return all
}

func names(all []Setting) []string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = s.Key
	}
	return list
}
