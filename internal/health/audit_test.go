package health

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/people"
)

func TestAudit(t *testing.T) {
	broken := []people.AuditProblem{{Entry: 3, Kind: "changed", Text: "entry 3 was changed"}, {Entry: 5, Kind: "missing", Text: "entry 5 was removed"}}
	tests := []struct {
		rule   string
		report people.AuditReport
		err    error
		level  Level
		says   string
	}{
		{"an intact log is fine", people.AuditReport{Checked: 12}, nil, OK, "newest 12 entries"},
		{"entries may wait a minute", people.AuditReport{Waiting: 2, WaitingSince: noon.Add(-time.Minute)}, nil, OK, ""},
		{"and no longer", people.AuditReport{Waiting: 2, WaitingSince: noon.Add(-61 * time.Second)}, nil, Warn, "2 entries"},
		{"a broken chain fails", people.AuditReport{Problems: broken}, nil, Fail, "entry 3 was changed (and 1 more problems)"},
		{"what can't be checked fails", people.AuditReport{}, errors.New("x"), Fail, ""},
	}
	for _, tt := range tests {
		f := Audit(tt.report, tt.err, noon, "countersign x audit verify")
		if f.Name != "audit log" || f.Level != tt.level || !strings.Contains(f.What, tt.says) || (f.Level != OK) != (f.Why != "" && f.Fix != "") {
			t.Errorf("%s: %+v", tt.rule, f)
		}
	}
}
