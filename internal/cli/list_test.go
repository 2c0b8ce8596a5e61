package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
)

// thing is a view with every kind of field.
type thing struct {
	ID      int64                  `json:"id" row:"2,ID" card:"2,Id"`
	Name    string                 `json:"name" row:"1,NAME,text" card:"1,Name"`
	At      countersign.Timestamp  `json:"at" row:"3,DAY" card:"3,At"`
	Ended   *countersign.Timestamp `json:"ended" row:"4,ENDED (UTC),minute" card:"4,Ended,optional"`
	Uses    int64                  `json:"uses" row:"5,USES,thousands"`
	On      bool                   `json:"on" row:"6,ON" card:"5,On"`
	Tags    []string               `json:"tags"`
	Hidden  string                 `json:"-"`
	Details []Line                 `json:"-" card:"6,"`
	part
}

type part struct {
	Note string `json:"note,omitempty"`
}

func things(t *testing.T) []thing {
	t.Helper()
	at := must.Get(countersign.ParseTimestamp("2026-11-21T12:34:56Z"))(t)
	return []thing{
		{ID: 7, Name: "Rain\x1b[2J", At: at, Ended: &at, Uses: 1234, On: true, Tags: []string{"=1+1"}, Hidden: "x", Details: Lines("More", "a", "Most", "b")},
		{ID: -1, Name: "=cmd()", Tags: []string{}, part: part{"+1; -2"}},
	}
}

func unset(string) (string, bool) { return "", false }

func TestAListInEveryFormat(t *testing.T) {
	const first = `{"id":7,"name":"Rain\u001b[2J","at":"2026-11-21T12:34:56Z","ended":"2026-11-21T12:34:56Z","uses":1234,"on":true,"tags":["=1+1"]}`
	const second = `{"id":-1,"name":"=cmd()","at":"0001-01-01T00:00:00Z","ended":null,"uses":0,"on":false,"tags":[],"note":"+1; -2"}`
	for format, want := range map[string]string{
		"": "NAME            ID   DAY          ENDED (UTC)        USES    ON\n" +
			`Rain\u001b[2J   7    2026-11-21   2026-11-21 12:34   1,234   yes` + "\n" +
			"=cmd()          -1   -            -                  0       no\n",
		"json":  "[" + first + ",\n" + second + "]\n",
		"jsonl": first + "\n" + second + "\n",
		"csv": "id,name,at,ended,uses,on,tags,note\n" +
			"7,Rain\x1b[2J,2026-11-21T12:34:56Z,2026-11-21T12:34:56Z,1234,true,\"[\"\"=1+1\"\"]\",\n" +
			"-1,'=cmd(),0001-01-01T00:00:00Z,,0,false,[],'+1; -2\n",
	} {
		t.Run(format, func(t *testing.T) {
			var out strings.Builder
			console := New(unset, strings.NewReader(""), &out, io.Discard)
			console.Format = format
			if err := PrintList(console, things(t), func(v thing) thing { return v }, "No thing.", nil); err != nil || out.String() != want {
				t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
			}
		})
	}
}

func TestAnEmptyListSaysSo(t *testing.T) {
	for format, want := range map[string]string{"": "", "json": "[]\n", "jsonl": "", "csv": "id,name,at,ended,uses,on,tags,note\n"} {
		var out, errs strings.Builder
		console := New(unset, strings.NewReader(""), &out, &errs)
		console.Format = format
		if err := NewList[thing](console).End("No thing."); err != nil || out.String() != want || errs.String() != "No thing.\n" {
			t.Errorf("%q: %v, %q, %q", format, err, out.String(), errs.String())
		}
	}
}

func TestACardIsTheViewInLines(t *testing.T) {
	var out strings.Builder
	console := New(unset, strings.NewReader(""), &out, io.Discard)
	must.Do(t, console.Show(things(t)[1], nil))
	if want := "Name   =cmd()\nId     -1\nAt     -\nOn     no\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	failed := errors.New("it failed")
	if err := console.Show(things(t)[0], failed); !errors.Is(err, failed) || strings.Contains(out.String(), "Rain") {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestATableFitsTheTerminal(t *testing.T) {
	rows := func() [][]string {
		return [][]string{{"ID", "NAME", "NOTE"}, {"1229", "A rather long name é", "and a note that is even longer"}, {"7", "short", ""}}
	}
	for terminal, want := range map[int]string{
		0:  "ID     NAME                   NOTE\n1229   A rather long name é   and a note that is even longer\n7      short                  -\n",
		40: "ID     NAME              NOTE\n1229   A rather long …   and a note tha…\n7      short             -\n",
		5:  "ID     NAME   NOTE\n1229   A r…   and…\n7      sho…   -\n",
		80: "ID     NAME                   NOTE\n1229   A rather long name é   and a note that is even longer\n7      short                  -\n",
	} {
		var out strings.Builder
		if err := writeTable(&out, rows(), []bool{false, true, true}, terminal); err != nil || out.String() != want {
			t.Errorf("%d: %v\n%s\nwant\n%s", terminal, err, out.String(), want)
		}
	}
}
