package main

import (
	"log/slog"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/certificate"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// awaitMetric reads the metrics until a sample has a value that is wanted.
func (s *running) awaitMetric(sample string, wanted func(float64) bool) {
	s.t.Helper()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(sample) + ` (\S+)$`)
	for dbtest.Again(s.t) {
		_, body := fetch(s.t, s.said["metrics_url"])
		m := line.FindStringSubmatch(body)
		if m == nil {
			s.t.Fatalf("no %s", sample)
		}
		if value, err := strconv.ParseFloat(m[1], 64); err == nil && wanted(value) {
			return
		}
	}
}

func is(want float64) func(float64) bool { return func(got float64) bool { return got == want } }

func over(bound float64) func(float64) bool { return func(got float64) bool { return got > bound } }

func TestMetricsFollowAnOutageOfPostgreSQL(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, db)
	at := must.Get(url.Parse(proxy.URL))(t)
	at.User = url.UserPassword(at.User.Username(), "hunter2hunter2")
	s := startServer(t, environment{envData: db.Dir, envDB: at.String()}, "store", "serve", "--metrics", "127.0.0.1:0", "--pprof")
	s.awaitMetric("countersign_database_feed_live", is(1))
	for _, fault := range []struct {
		name  string
		begin func()
	}{{"cut off", proxy.Cut}, {"frozen", proxy.Freeze}} {
		fault.begin()
		s.awaitMetric("countersign_database_feed_silence_seconds", over(1))
		s.awaitMetric("countersign_database_feed_live", is(0))
		s.awaitMetric("countersign_database_reachable", is(0))
		s.awaitMetric("countersign_database_down_seconds", over(0))
		proxy.Restore()
		s.awaitMetric("countersign_database_feed_live", is(1))
		s.awaitMetric("countersign_database_reachable", is(1))
		s.awaitMetric("countersign_database_down_seconds", is(0))
		s.awaitMetric("countersign_database_feed_silence_seconds", func(v float64) bool { return v < 1 })
	}
	s.awaitMetric("countersign_cache_bypassed_seconds_total", over(1))
	s.awaitMetric("countersign_database_feed_losses_total", is(2))
	base := strings.TrimSuffix(s.said["metrics_url"], "/metrics")
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline"} {
		if _, body := fetch(t, base+path); strings.Contains(body, "hunter2") {
			t.Errorf("%s has the password of the database", path)
		}
	}
}

// scrape returns the metrics that add adds.
func scrape(add func(*web.Metrics)) string {
	m := web.NewMetrics("v")
	add(m)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestMetricsHaveTheValidityOfTheCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := webtest.NewCertificate(t, fixedNow(), "shop.example")
	cert, key := own.Write(t, dir)
	files := must.Get(certificate.OpenFiles(certificate.FileOptions{Certificate: cert, Key: key, Log: slog.New(slog.DiscardHandler)}))(t)
	none := must.Get(certificate.NewACME(certificate.ACMEOptions{Hosts: []string{"shop.example"}, Folder: dir}))(t)
	for rule, c := range map[string]struct {
		of         certificates
		begin, end int64
	}{
		"of a file":        {files, own.Leaf.NotBefore.Unix(), own.Leaf.NotAfter.Unix()},
		"not obtained yet": {none, 0, 0},
	} {
		got := scrape(func(m *web.Metrics) { addCertificate(m, c.of.Validity) })
		for name, want := range map[string]int64{"begins": c.begin, "expires": c.end} {
			line := regexp.MustCompile(`(?m)^countersign_certificate_` + name + `_timestamp_seconds (\S+)$`).FindStringSubmatch(got)
			if line == nil {
				t.Errorf("%s: %s is missing", rule, name)
			} else if value, err := strconv.ParseFloat(line[1], 64); err != nil || value != float64(want) {
				t.Errorf("%s: %s %s, want %d", rule, name, line[1], want)
			}
		}
	}
}

func TestABackupFailsOnlyOnASchedule(t *testing.T) {
	t.Parallel()
	noon, later := fixedNow(), fixedNow().Add(time.Hour)
	for rule, c := range map[string]struct {
		schedule backup.Schedule
		want     bool
	}{
		"none was written":                {backup.Schedule{Settings: backup.Settings{Active: true}}, false},
		"the last one failed":             {backup.Schedule{Settings: backup.Settings{Active: true}, SucceededAt: noon, FailedAt: later}, true},
		"it failed, and then succeeded":   {backup.Schedule{Settings: backup.Settings{Active: true}, SucceededAt: later, FailedAt: noon}, false},
		"it failed, and was switched off": {backup.Schedule{SucceededAt: noon, FailedAt: later}, false},
	} {
		expect.Equalf(t, backupFailed(c.schedule), c.want, "%s", rule)
	}
}

func TestAFileThatWasNeverCheckedIsTold(t *testing.T) {
	t.Parallel()
	const name = "\ncountersign_database_checked_timestamp_seconds "
	for rule, c := range map[string]struct {
		rows health.Rows
		want string
	}{
		"SQLite, never checked": {health.Rows{ChecksFile: true}, name + "0\n"},
		"SQLite, checked":       {health.Rows{ChecksFile: true, CheckedAt: time.Unix(86400, 0)}, name + "86400\n"},
		"PostgreSQL":            {health.Rows{}, ""},
	} {
		rows := &measure.Value[health.Rows]{Interval: measure.Often, Now: fixedNow}
		rows.Set(c.rows)
		intact := &measure.Value[bool]{Interval: measure.Seldom, Now: fixedNow}
		got := scrape(func(m *web.Metrics) { addAudit(m, rows, func() bool { return false }, intact) })
		if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, name) {
			t.Errorf("%s: want %q in %s", rule, c.want, got)
		}
	}
}

func TestMetricsOfWritesNameTheFault(t *testing.T) {
	t.Parallel()
	var status sqldb.Status
	m := web.NewMetrics("v")
	addDatabase(m, func() sqldb.Status { return status })
	addWrites(m, func() sqldb.Status { return status })
	for _, c := range []struct {
		rule   string
		status sqldb.Status
		lines  []string
	}{
		{"nothing is wrong", sqldb.Status{Reachable: true, FeedLive: true}, []string{
			`writes_off{reason="fsync"} 0`, `writes_off{reason="file"} 0`, `writes_off{reason="lock"} 0`, `writes_off{reason="damage"} 0`,
			`write_fault{reason="disk_full"} 0`, `write_fault{reason="read_only"} 0`, `write_faults_total{reason="disk_full"} 0`, `down_seconds 0`,
		}},
		{"an fsync failed", sqldb.Status{WritesOff: sqldb.OffFsync}, []string{`writes_off{reason="fsync"} 1`, `writes_off{reason="damage"} 0`}},
		{"a full disk", sqldb.Status{WriteFault: sqldb.FaultFull, WriteFaultCounts: [2]int64{3, 1}}, []string{
			`write_fault{reason="disk_full"} 1`, `write_fault{reason="read_only"} 0`, `write_faults_total{reason="disk_full"} 3`, `write_faults_total{reason="read_only"} 1`,
		}},
		{"a stuck feed that counts as live", sqldb.Status{FeedLive: true, FeedSilence: time.Minute}, []string{`feed_live 1`, `feed_silence_seconds 60`}},
		{"standbys are away", sqldb.Status{CommitsStalled: 12, WritesWaiting: 40}, []string{`commits_stalled 12`, `writes_waiting 40`}},
	} {
		status = c.status
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		for _, line := range c.lines {
			if !strings.Contains(w.Body.String(), "\ncountersign_database_"+line+"\n") {
				t.Errorf("%s: no %s", c.rule, line)
			}
		}
	}
}
