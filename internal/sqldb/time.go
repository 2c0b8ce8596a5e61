package sqldb

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
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

// JSON is a column that holds a list or an object as JSON text.
type JSON[T any] struct{ V T }

// Value is the column's value of j.
func (j JSON[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(j.V)
	return string(text), err
}

// Scan reads a column.
func (j *JSON[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("sqldb: a %T is not JSON text", src)
	}
	return json.Unmarshal([]byte(text), &j.V)
}
