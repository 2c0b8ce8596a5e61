package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign"
)

// Time is an instant as columns hold it: UTC text in whole seconds, which sorts
// by time on both engines. The zero time is NULL.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05Z"

// Value is the column's value of t.
func (t Time) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return t.UTC().Format(timeLayout), nil
}

// Scan reads a column.
func (t *Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = Time{}
		return nil
	case string:
		return t.UnmarshalText([]byte(v))
	}
	return fmt.Errorf("sqldb: a %T is not a time", src)
}

// TimestampColumn reads and writes a column of time as a timestamp of the public API.
type TimestampColumn struct{ *countersign.Timestamp }

// Value is the column's value of c.
func (c TimestampColumn) Value() (driver.Value, error) { return Time{c.Time}.Value() }

// Scan reads a column.
func (c TimestampColumn) Scan(src any) error {
	var t Time
	err := t.Scan(src)
	*c.Timestamp = countersign.At(t.Time)
	return err
}

// JSONInto reads a column of JSON text into v.
func JSONInto[T any](v *T) sql.Scanner { return jsonInto[T]{v} }

type jsonInto[T any] struct{ v *T }

// Scan reads a column.
func (j jsonInto[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("sqldb: a %T is not JSON text", src)
	}
	return json.Unmarshal([]byte(text), j.v)
}

// JSON is a column that holds a list or an object as JSON text.
type JSON[T any] struct{ V T }

// Value is the column's value of j.
func (j JSON[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(j.V)
	return string(text), err
}

// Scan reads a column.
func (j *JSON[T]) Scan(src any) error { return JSONInto(&j.V).Scan(src) }

// NullID is a reference to a row, NULL for 0.
func NullID(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// NullBytes keeps an absent value NULL on both engines.
func NullBytes(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
