package sqldb

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestTimeComesBackAsWholeSecondsOfUTC(t *testing.T) {
	zone := time.FixedZone("", 5*3600)
	cases := []struct {
		name string
		in   time.Time
		want string // in the column
	}{
		{"UTC stays", time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC), "2024-04-27T12:00:00Z"},
		{"another zone is converted", time.Date(2024, 4, 27, 17, 0, 0, 0, zone), "2024-04-27T12:00:00Z"},
		{"fractions are cut", time.Date(2024, 4, 27, 12, 0, 0, 999_999_999, time.UTC), "2024-04-27T12:00:00Z"},
		{"an early year keeps its four digits", time.Date(7, 1, 1, 0, 0, 0, 0, time.UTC), "0007-01-01T00:00:00Z"},
	}
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at))
		exec(t, db, `CREATE TABLE times (id bigint, at text)`)
		for i, c := range cases {
			exec(t, db, `INSERT INTO times (id, at) VALUES ($1, $2)`, i, Time{c.in})
			text, err := One(t.Context(), db.Queries(), Value[string], `SELECT at FROM times WHERE id = $1`, i)
			if err != nil || text != c.want {
				t.Errorf("%s: column %q, %v; want %q", c.name, text, err, c.want)
			}
			back, err := One(t.Context(), db.Queries(), Value[Time], `SELECT at FROM times WHERE id = $1`, i)
			if err != nil || !back.Equal(c.in.Truncate(time.Second)) || back.Location() != time.UTC {
				t.Errorf("%s: read %v, %v", c.name, back, err)
			}
			var found []byte
			err = db.Lookup(`SELECT at FROM times WHERE id = $1 AND id = $2`).Row(t.Context(), int64(i), int64(i), &found)
			if err != nil || string(found) != c.want {
				t.Errorf("%s: looked up %s, %v", c.name, found, err)
			}
		}
	})
}

func TestZeroTimeIsNull(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at))
		exec(t, db, `CREATE TABLE times (at text)`)
		exec(t, db, `INSERT INTO times (at) VALUES ($1)`, Time{})
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM times WHERE at IS NULL`), 1, "the zero time is not NULL")
		back, err := One(t.Context(), db.Queries(), Value[Time], `SELECT at FROM times`)
		if err != nil || !back.IsZero() {
			t.Errorf("read %v, %v", back, err)
		}
		found := []byte("of the last row")
		err = db.Lookup(`SELECT at FROM times WHERE CAST($1 AS bigint) = CAST($2 AS bigint)`).Row(t.Context(), 1, 1, &found)
		if err != nil || len(found) > 0 {
			t.Errorf("looked up %s, %v", found, err)
		}
	})
}

func TestMetaReplacesAndMisses(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		q := db.Queries()
		for _, want := range []string{"", "first", "second"} {
			if want != "" {
				must.Do(t, q.SetMeta(t.Context(), "name", want))
			}
			if got, err := q.Meta(t.Context(), "name"); err != nil || got != want {
				t.Errorf("read %q, %v; want %q", got, err, want)
			}
		}
	})
}
