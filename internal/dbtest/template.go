package dbtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Template is what many tests start from: a database and its data folder, filled once on
// each engine and copied for each test.
type Template struct {
	fill func(DB) error
	made map[string]func() (*filled, error)
}

// filled is a filled database and the files of its data folder.
type filled struct {
	database string
	files    []file
}

type file struct {
	path    string
	mode    fs.FileMode
	content []byte
}

// NewTemplate returns a template that fill fills. fill closes the database that it opens.
func NewTemplate(fill func(DB) error) *Template {
	m := &Template{fill: fill}
	m.made = map[string]func() (*filled, error){
		SQLite:   sync.OnceValues(func() (*filled, error) { return m.make(DB{Engine: SQLite}) }),
		Postgres: sync.OnceValues(m.makePostgres),
	}
	return m
}

// Engines is [Engines] with copies of the template.
func (m *Template) Engines(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	for _, engine := range EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) { fn(t, m.New(t, engine)) })
	}
}

// AnEngine is [AnEngine] with a copy of the template.
func (m *Template) AnEngine(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	engine := Either(t)
	t.Run(engine, func(t *testing.T) { fn(t, m.New(t, engine)) })
}

// New returns a copy of the template on one engine. It skips the test where there is no
// PostgreSQL. On a server that the user named nothing is left for other tests, so that
// each is filled there by itself.
func (m *Template) New(t testing.TB, engine string) DB {
	t.Helper()
	db := DB{Engine: engine, Dir: TempDir(t)}
	var s *server
	if engine == Postgres {
		var isPrivate bool
		if s, isPrivate = serverOf(t); !isPrivate {
			db.URL = s.database(t, "template1")
			if err := m.fill(db); err != nil {
				t.Fatalf("dbtest: %v", err)
			}
			return db
		}
	}
	made, err := m.made[engine]()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	if engine == Postgres {
		db.URL = s.database(t, made.database)
	}
	for _, f := range made.files {
		if err := f.write(db.Dir); err != nil {
			t.Fatalf("dbtest: %v", err)
		}
	}
	return db
}

func (m *Template) makePostgres() (*filled, error) {
	s, err := private()
	if err != nil {
		return nil, err
	}
	url, err := s.create("template1")
	if err != nil {
		return nil, err
	}
	return m.make(DB{Engine: Postgres, URL: url})
}

// make fills a database and reads its data folder.
func (m *Template) make(db DB) (*filled, error) {
	var err error
	if db.Dir, err = os.MkdirTemp(memory(), "countersign-template-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(db.Dir)
	if err := m.fill(db); err != nil {
		return nil, err
	}
	made := &filled{}
	if db.URL != "" {
		made.database = nameOf(db.URL)
	}
	made.files, err = readFiles(db.Dir)
	return made, err
}

func readFiles(dir string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := file{path: path[len(dir):], mode: info.Mode()}
		if info.Mode().IsRegular() {
			f.content, err = os.ReadFile(path)
		} else if !info.IsDir() {
			err = errors.New("dbtest: " + path + " is neither a file nor a folder")
		}
		files = append(files, f)
		return err
	})
	return files, err
}

func (f file) write(dir string) error {
	if f.mode.IsDir() {
		return os.Mkdir(filepath.Join(dir, f.path), f.mode.Perm())
	}
	return os.WriteFile(filepath.Join(dir, f.path), f.content, f.mode.Perm())
}
