package countersign

import (
	"encoding/json"
	"testing"
)

func TestVersionFromJSON(t *testing.T) {
	tests := []struct {
		rule string
		in   string
		want Version
		fail bool
	}{
		{rule: "a string", in: `"1.2.3"`, want: "1.2.3"},
		{rule: "a string with an escape", in: `"1\u002e2"`, want: "1.2"},
		{rule: "a bare number keeps its text", in: `1.10`, want: "1.10"},
		{rule: "a bare integer", in: `2`, want: "2"},
		{rule: "null changes nothing", in: `null`, want: "before"},
		{rule: "a boolean is refused", in: `true`, want: "before", fail: true},
		{rule: "an object is refused", in: `{}`, want: "before", fail: true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := Version("before")
			err := json.Unmarshal([]byte(tt.in), &got)
			if got != tt.want || (err != nil) != tt.fail {
				t.Errorf("%s gives %q, %v", tt.in, got, err)
			}
		})
	}
}

func TestVersionPrintsQuoted(t *testing.T) {
	if got, err := EncodeJSON(Version("1.10")); string(got) != `"1.10"` || err != nil {
		t.Errorf("a version encodes as %s, %v", got, err)
	}
}
