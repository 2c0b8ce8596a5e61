package storetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/store/validation"
)

// FirstDifference says which line of two texts is the first that differs.
func FirstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return "line " + Text(i+1) + ":\n" + as[i] + "\n" + bs[i]
		}
	}
	return Text(len(as)) + " lines against " + Text(len(bs))
}

// ItemsOf are the items in an answer.
func ItemsOf(t testing.TB, answer *prepared.Response) []countersign.Item {
	t.Helper()
	var all struct{ Items []countersign.Item }
	must.Do(t, json.Unmarshal(answer.Plain.Body, &all))
	return all.Items
}

// IDsOf are the ids in an answer with items.
func IDsOf(t testing.TB, answer *prepared.Response) (ids []int64) {
	t.Helper()
	for _, item := range ItemsOf(t, answer) {
		ids = append(ids, item.ID)
	}
	return ids
}

// WantError wants one of our errors by its code; "" wants none.
func WantError(t testing.TB, err error, code string) {
	t.Helper()
	if got := CodeOf(err); got != code {
		t.Errorf("error %v, want the code %q", err, code)
	}
}

// CodeOf is the code of one of our errors, "" for no error.
func CodeOf(err error) string {
	if err != nil && fault.Of(err) == nil {
		return "not ours: " + err.Error()
	}
	return ErrorOf(err).Code
}

// ErrorOf is one of our errors, empty for another one.
func ErrorOf(err error) countersign.Error {
	if apiErr := fault.Of(err); apiErr != nil {
		return *apiErr
	}
	return countersign.Error{}
}

// MessageOf is the public sentence of one of our errors.
func MessageOf(err error) string { return ErrorOf(err).Message }

// Timestamp reads a time.
func Timestamp(text string) countersign.Timestamp {
	stamp, err := countersign.ParseTimestamp(text)
	if err != nil {
		panic(err)
	}
	return stamp
}

// Read is the purchase of an answer as a client reads it.
func Read(t testing.TB, v validation.Valid) countersign.Purchase {
	t.Helper()
	var p countersign.Purchase
	must.Do(t, json.Unmarshal([]byte(v.Before+v.Item.Text()+v.After), &p))
	return p
}

// MustJSON is the JSON of a value.
func MustJSON(t testing.TB, v any) string {
	t.Helper()
	return string(must.Get(countersign.EncodeJSON(v))(t))
}
