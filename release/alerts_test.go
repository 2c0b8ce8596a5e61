package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

const alertFolder = "../deploy/prometheus"

func readAlerts(t *testing.T, file string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(alertFolder, file)))(t))
}

// alertTests are the tests of the rules, by how often they evaluate them.
var alertTests = []string{"alerts_test.yml", "alerts_hours_test.yml", "alerts_days_test.yml", "alerts_weeks_test.yml"}

func TestAlertRulesPassPrometheusOwnTests(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, append([]string{"test", "rules"}, alertTests...)} {
		promtool := exec.Command("promtool", args...)
		promtool.Dir = alertFolder
		if out, err := promtool.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

func TestEveryAlertHasATestAndARunbook(t *testing.T) {
	t.Parallel()
	rules, tests := readAlerts(t, "alerts.yml"), ""
	for _, name := range alertTests {
		tests += readAlerts(t, name)
	}
	blocks := strings.Split(rules, "- alert: ")[1:]
	for _, block := range blocks {
		name, _, _ := strings.Cut(block, "\n")
		if !strings.Contains(tests, `alertname="`+name+`"`) {
			t.Errorf("no test has %s fire", name)
		}
		for _, want := range []string{"severity: ", "summary: ", "description: ", "runbook: docs/operations.md#"} {
			if !strings.Contains(block, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
	}
	if len(blocks) == 0 {
		t.Error("no alert was found")
	}
}
