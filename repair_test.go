package countersign

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestRepairVersions(t *testing.T) {
	tests := []struct {
		rule     string
		in, want string
	}{
		{"a bare version is quoted", `{"version":1.2.3}`, `{"version":"1.2.3"}`},
		{"white space stays", "{\"version\" :\t1.2.3\n}", "{\"version\" :\t\"1.2.3\"\n}"},
		{"every version is quoted", `[{"version":1.2.3},{"version":2.0.0,"a":1}]`, `[{"version":"1.2.3"},{"version":"2.0.0","a":1}]`},
		{"a pre-release and a build", `{"version":v1.2.3-rc.1+b_5}`, `{"version":"v1.2.3-rc.1+b_5"}`},
		{"a leading zero is not JSON either", `{"version":01.2}`, `{"version":"01.2"}`},
		{"nothing at all is an empty version", `{"version":,"a":1}`, `{"version":"","a":1}`},
		{"a number beside a bare version stays", `[{"version":1.2},{"version":1.2.3}]`, `[{"version":1.2},{"version":"1.2.3"}]`},
		{"null beside a bare version stays", `[{"version":null},{"version":1.2.3}]`, `[{"version":null},{"version":"1.2.3"}]`},
		{"the inside of a string stays", `{"n":"\"version\":1.0.0,","version":1.2.3}`, `{"n":"\"version\":1.0.0,","version":"1.2.3"}`},
		{"a value that reads version is not a name", `{"tag":"version","version":1.2.3}`, `{"tag":"version","version":"1.2.3"}`},
		{"other members stay broken", `{"build":1.2.3}`, `{"build":1.2.3}`},
		{"a name that ends so is another member", `{"app_version":1.2.3}`, `{"app_version":1.2.3}`},
		{"letter case counts", `{"Version":1.2.3}`, `{"Version":1.2.3}`},
		{"two words are no version", `{"version":1.2 beta}`, `{"version":1.2 beta}`},
		{"a cut answer stays", `{"version":1.2.3`, `{"version":1.2.3`},
		{"a cut string stays", `{"version`, `{"version`},
		{"an escape at the end stays", `{"version":1.2.3,"\`, `{"version":"1.2.3","\`},
		{"valid JSON stays, odd as it is", `{"version":1.2,"version":{"version":true}} `, `{"version":1.2,"version":{"version":true}} `},
		{"a page stays", `<html>"version": 1.2.3</html>`, `<html>"version": 1.2.3</html>`},
		{"nothing stays nothing", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			in := []byte(tt.in)
			if got := repairVersions(in); string(got) != tt.want {
				t.Errorf("%s\nbecomes %s\nwant    %s", tt.in, got, tt.want)
			}
			expect.Equalf(t, string(in), tt.in, "the caller's bytes were changed to %s", in)
		})
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{
		`{"version":1.2.3}`, `{"version":"1.2.3"}`, `{"version":1.2}`, `{"version":}`, `{"version":1.2.3`,
		`{"a":"\"version\":1.2.3,","version": v1-x ,"b":[]}`, `"version`, `"\`, `{"version":1.2.3,"version":"version":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got := repairVersions(b)
		if !bytes.Equal(b, before) {
			t.Fatalf("the caller's bytes were changed: %q", before)
		}
		if json.Valid(b) && !bytes.Equal(got, b) {
			t.Errorf("valid JSON was changed: %q to %q", b, got)
		}
		if again := repairVersions(got); !bytes.Equal(again, got) {
			t.Errorf("not idempotent: %q to %q to %q", b, got, again)
		}
		quote := []byte(`"`)
		if !bytes.Equal(bytes.ReplaceAll(got, quote, nil), bytes.ReplaceAll(b, quote, nil)) {
			t.Errorf("more than quotes was changed: %q to %q", b, got)
		}
	})
}
