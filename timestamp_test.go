package countersign

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestParseTimestamp(t *testing.T) {
	noon := "2024-04-27T12:00:00Z"
	tests := []struct {
		rule string
		in   string
		want string // empty: refused
	}{
		{rule: "the form of the specification", in: "2024-04-27T12:00:00Z", want: noon},
		{rule: "microseconds are dropped", in: "2024-04-27T12:00:00.999999Z", want: noon},
		{rule: "a space and no zone is UTC", in: "2024-04-27 12:00:00", want: noon},
		{rule: "an offset is turned into UTC", in: "2024-04-27T14:30:00+02:30", want: noon},
		{rule: "a negative offset over midnight", in: "2024-04-26T23:00:00-13:00", want: noon},
		{rule: "a leap day", in: "2024-02-29T00:00:00Z", want: "2024-02-29T00:00:00Z"},
		{rule: "no leap day in other years", in: "2023-02-29T00:00:00Z"},
		{rule: "no thirteenth month", in: "2024-13-01T00:00:00Z"},
		{rule: "hours have two digits", in: "2024-04-27T1:00:00Z"},
		{rule: "a comma is no decimal point", in: "2024-04-27T12:00:00,5Z"},
		{rule: "a T needs a zone", in: "2024-04-27T12:00:00"},
		{rule: "a date alone is refused", in: "2024-04-27"},
		{rule: "empty is refused", in: ""},
		{rule: "text behind it is refused", in: "2024-04-27T12:00:00Z\n"},
		{rule: "an offset must not lead out of the years 0 to 9999", in: "9999-12-31T23:59:59-01:00"},
		{rule: "nor below year 0", in: "0000-01-01T00:00:00+01:00"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := ParseTimestamp(tt.in)
			if tt.want == "" {
				if err == nil {
					t.Errorf("ParseTimestamp(%q) = %v, want an error", tt.in, got)
				}
				return
			}
			if err != nil || got.String() != tt.want {
				t.Errorf("ParseTimestamp(%q) = %v, %v, want %s", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestAtIsUTCWithoutFraction(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	got := At(time.Date(2024, 4, 27, 14, 0, 0, 999_999_999, east))
	if want := time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC); got.Time != want {
		t.Errorf("At = %v, want %v", got.Time, want)
	}
}

func TestTimestampJSON(t *testing.T) {
	east := Timestamp{time.Date(2024, 4, 27, 14, 0, 0, 5, time.FixedZone("east", 2*60*60))}
	if got, err := json.Marshal(east); string(got) != `"2024-04-27T12:00:00Z"` || err != nil {
		t.Errorf("a timestamp of another zone encodes as %s, %v", got, err)
	}
	if got, err := json.Marshal(Timestamp{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Errorf("a year with five digits encodes as %s", got)
	}
	for _, bad := range []string{`1714219200`, `""`, `{}`, `"yesterday"`} {
		var ts Timestamp
		if err := json.Unmarshal([]byte(bad), &ts); err == nil {
			t.Errorf("%s decodes as %v, want an error", bad, ts)
		}
	}
	before := At(time.Unix(0, 0))
	if err := json.Unmarshal([]byte(`null`), &before); err != nil || before.Unix() != 0 {
		t.Errorf("null gives %v, %v, want no change", before, err)
	}
}

func FuzzParseTimestamp(f *testing.F) {
	for _, s := range []string{
		"2024-04-27T12:00:00Z", "2024-09-22T05:02:13.000000Z", "2024-09-27 13:53:47", "2024-04-27T14:30:00+02:30",
		"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59.9-00:01", "2024-04-27 12:00:00Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ts, err := ParseTimestamp(s)
		if err != nil {
			return
		}
		printed := ts.String()
		if again, err := ParseTimestamp(printed); err != nil || !again.Equal(ts.Time) {
			t.Errorf("%q prints as %q, which reads as %v, %v", s, printed, again, err)
		}
		if len(printed) != len("2024-04-27T12:00:00Z") || !strings.HasSuffix(printed, "Z") {
			t.Errorf("%q prints as %q", s, printed)
		}
		if standard, err := time.Parse(time.RFC3339, s); err == nil && !standard.Truncate(time.Second).Equal(ts.Time) {
			t.Errorf("%q reads as %v, but is %v", s, ts, standard)
		}
	})
}
