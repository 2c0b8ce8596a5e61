package countersign_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun counts the blocks of docs/operations.md that no test can run: they need systemd, DNS,
// another machine or a package manager. A new one is counted here after a look at whether it can be
// run after all. Its commands and flags are checked either way.
const notRun = 27

func TestTheBlocksOfOperationsThatAreNotRunAreCounted(t *testing.T) {
	count, run := 0, 0
	for _, b := range fences(t, "docs/operations.md") {
		switch {
		case b.language == "sh" && b.has("not-run"):
			count++
		case b.language == "sh":
			run++
		}
	}
	if count != notRun {
		t.Errorf("docs/operations.md has %d blocks with not-run; notRun says %d", count, notRun)
	}
	if run < count {
		t.Errorf("docs/operations.md has %d blocks that are run, and %d that are not", run, count)
	}
}

func TestEachAlertHasASectionOfOperations(t *testing.T) {
	const rules = "deploy/prometheus/alerts.yml"
	text := readText(t, rules)
	runbooks := regexp.MustCompile(`(?m)^ +runbook: docs/operations\.md#(\S+)$`).FindAllStringSubmatch(text, -1)
	if alerts := strings.Count(text, "- alert: "); alerts == 0 || len(runbooks) != alerts {
		t.Fatalf("%s has %d alerts, %d of them with a runbook in docs/operations.md", rules, alerts, len(runbooks))
	}
	sections := anchors(readText(t, "docs/operations.md"))
	for _, m := range runbooks {
		if !slices.Contains(sections, m[1]) {
			t.Errorf("%s names docs/operations.md#%s, which has no such heading", rules, m[1])
		}
	}
}
