package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
)

// metricRow is what a scrape or a table of the manuals says of a metric.
type metricRow struct{ kind, labels, help string }

var (
	metricHelp   = regexp.MustCompile(`(?m)^# HELP (countersign_\S+) (.*)$`)
	metricType   = regexp.MustCompile(`(?m)^# TYPE (countersign_\S+) (.*)$`)
	metricSample = regexp.MustCompile(`(?m)^(countersign_[a-z0-9_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? `)
	metricLabel  = regexp.MustCompile(`([a-z]+)="`)
)

// readMetrics reads the metrics of ours in a scrape.
func readMetrics(text string) map[string]metricRow {
	rows := map[string]metricRow{}
	for _, m := range metricHelp.FindAllStringSubmatch(text, -1) {
		rows[m[1]] = metricRow{help: m[2]}
	}
	for _, m := range metricType.FindAllStringSubmatch(text, -1) {
		row := rows[m[1]]
		row.kind = m[2]
		rows[m[1]] = row
	}
	for _, m := range metricSample.FindAllStringSubmatch(text, -1) {
		row := rows[m[1]]
		var labels []string
		for _, l := range metricLabel.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" && !slices.Contains(labels, "`"+l[1]+"`") {
				labels = append(labels, "`"+l[1]+"`")
			}
		}
		row.labels = strings.Join(labels, ", ")
		rows[m[1]] = row
	}
	return rows
}

// scrapeAll reads the metrics of a server once those are there that it reads in the background.
func scrapeAll(t *testing.T, s *running, own string) string {
	t.Helper()
	names := []string{"ready 1", "audit_intact", "audit_unsealed", "data_free_bytes", "database_checked", "jobs_open", own}
	for dbtest.Again(t) {
		_, body := fetch(t, s.said["metrics_url"])
		missing := func(name string) bool { return !strings.Contains(body, "\ncountersign_"+name) }
		if !slices.ContainsFunc(names, missing) {
			return body
		}
	}
	return ""
}

// scrapeOptional has the metrics of what a server has by its flags alone.
func scrapeOptional() string {
	record := &measure.Value[backupRecord]{Interval: measure.Often, Now: fixedNow}
	record.Set(backupRecord{})
	return scrape(func(m *web.Metrics) {
		addCertificate(m, func() (begin, end time.Time) { return fixedNow(), fixedNow() })
		addBackups(m, record)
	})
}

// scrapeBoth returns the metrics of a store and of an addon.
func scrapeBoth(t *testing.T) (store, addon map[string]metricRow) {
	t.Helper()
	s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--metrics", "127.0.0.1:0")
	s.get("/healthz")
	_, _ = fetch(t, s.said["store_url"]+"/api/account/details") // without a key: a failure
	dir := t.TempDir()
	mustRun(t, dir, "addon", "update", "--data", dir)
	a := startServer(t, environment{}, "addon", "serve", "--data", dir, "--metrics", "127.0.0.1:0")
	_, _ = fetch(t, a.said["addon_url"]+"/healthz")
	optional := readMetrics(scrapeOptional())
	store, addon = readMetrics(scrapeAll(t, s, "media_writable")), readMetrics(scrapeAll(t, a, "webhooks"))
	for _, all := range []map[string]metricRow{store, addon} {
		for name, row := range optional {
			if all[name].kind == "" {
				all[name] = row
			}
		}
		// A refusal by a limit adds it.
		all["countersign_http_refusals_total"] = metricRow{"counter", "`code`", "Requests refused by a limit or a quota."}
	}
	return store, addon
}

// documentedMetrics are the rows of the tables of metrics in a manual.
func documentedMetrics(t *testing.T, page string) map[string]metricRow {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("../../docs", page)))(t)
	rows := map[string]metricRow{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(countersign_[a-z0-9_]+)` \\| ([a-z]+) \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = metricRow{m[2], strings.TrimSpace(m[3]), m[4]}
	}
	return rows
}

func TestTheTablesHaveEveryMetric(t *testing.T) {
	t.Parallel()
	store, addon := scrapeBoth(t)
	for name := range store {
		delete(addon, name) // the addon's page refers to the store's
	}
	for page, served := range map[string]map[string]metricRow{"store.md": store, "addon-reference.md": addon} {
		documented := documentedMetrics(t, page)
		for name, row := range served {
			if documented[name] != row {
				t.Errorf("%s: has %+v; want\n| `%s` | %s | %s | %s |", page, documented[name], name, row.kind, row.labels, row.help)
			}
		}
		for name := range documented {
			if served[name].kind == "" {
				t.Errorf("%s has %s, which no server has", page, name)
			}
		}
	}
}

func TestAlertRulesNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	store, addon := scrapeBoth(t)
	rules := string(must.Get(os.ReadFile("../../deploy/prometheus/alerts.yml"))(t))
	names := regexp.MustCompile(`countersign_[a-z0-9_]+`).FindAllString(rules, -1)
	for _, name := range names {
		if name = strings.TrimSuffix(name, "_bucket"); store[name].kind == "" && addon[name].kind == "" {
			t.Errorf("no server has %s", name)
		}
	}
	if len(names) < 30 {
		t.Errorf("only %d names were found", len(names))
	}
}

func TestProfilesAreServedBesideTheMetricsAlone(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--metrics", "127.0.0.1:0", "--pprof")
	at := strings.TrimSuffix(s.said["metrics_url"], "/metrics") + "/debug/pprof/"
	for path, want := range map[string]int{"": 200, "heap": 200, "goroutine?debug=2": 200, "profile?seconds=1": 200, "cmdline": 404, "nothing": 404} {
		if status, body := fetch(t, at+path); status != want || body == "" {
			t.Errorf("%s: %d, %d bytes", path, status, len(body))
		}
	}
	if status, _ := s.get("/debug/pprof/"); status != 404 {
		t.Errorf("on the public address: %d", status)
	}
	without := startServer(t, environment{envData: shop(t)}, "store", "serve", "--metrics", "127.0.0.1:0")
	if status, _ := fetch(t, strings.TrimSuffix(without.said["metrics_url"], "/metrics")+"/debug/pprof/"); status != 404 {
		t.Errorf("without the flag: %d", status)
	}
	for _, service := range []string{"store", "addon"} {
		r := command(t, t.TempDir(), service, "serve", "--pprof")
		if r.code != cli.ExitUsage || !strings.Contains(r.err, "--pprof: needs the address of --metrics") {
			t.Errorf("%s: exit %d, %q", service, r.code, r.err)
		}
	}
}

func TestServeWarnsOfProfilesThatOtherMachinesCanRead(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--metrics", address, "--pprof")
		if s.stop(); strings.Contains(s.stderr.String(), "other machines can read profiles") != want {
			t.Errorf("%s: %s", address, s.stderr)
		}
	}
}
