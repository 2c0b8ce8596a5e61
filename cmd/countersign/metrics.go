package main

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/usage"
	"github.com/countersign/countersign/internal/web"
)

// maxReady is how long a service may take to say whether it is ready.
const maxReady = 2 * time.Second

// newMetrics returns the metrics that all services have, nil without a listener for them.
func (l *server) newMetrics() *web.Metrics {
	if l.metrics == nil {
		return nil
	}
	m := web.NewMetrics(readBuildInfo().Version)
	l.counted = m
	addReady(m, readEvery(l, measure.Often, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, maxReady)
		defer cancel()
		return l.instance.Ready(ctx) == nil, nil
	}))
	addDatabase(m, l.instance.Database.Status)
	addWrites(m, l.instance.Database.Status)
	addFiles(m, readEvery(l, measure.Often, l.instance.MeasureFiles))
	if l.certificates != nil {
		addCertificate(m, l.certificates.Validity)
	}
	addLog(m, l.access, l.app.Err)
	addBackups(m, readEvery(l, measure.Often, func(ctx context.Context) (backupRecord, error) { return readBackups(ctx, l.instance.Backups) }))
	rows := readEvery(l, measure.Often, l.instance.MeasureRows)
	addJobs(m, rows, l.instance.Jobs.Runs)
	addAudit(m, rows, l.instance.Chain.Failing, readEvery(l, measure.Seldom, l.auditIntact))
	return m
}

// readEvery has a value read in the background for metrics while the server runs.
func readEvery[T any](l *server, interval time.Duration, read func(context.Context) (T, error)) *measure.Value[T] {
	v := &measure.Value[T]{Read: read, Interval: interval, Now: l.app.Now, Log: l.log}
	l.readings = append(l.readings, v.Run)
	return v
}

// addGauge adds a number of a value that is read in the background.
func addGauge[T any](m *web.Metrics, v *measure.Value[T], name, help string, number func(T) float64) {
	addKnown(m, v, name, help, func(value T) (float64, bool) { return number(value), true })
}

// addKnown is addGauge for a number that a value may lack.
func addKnown[T any](m *web.Metrics, v *measure.Value[T], name, help string, number func(T) (of float64, has bool)) {
	m.Add(web.Metric{Name: name, Help: help, Read: func() []web.Sample {
		value, known := v.Last()
		of, has := number(value)
		return web.Known(of, known && has)
	}})
}

// auditIntact verifies the newest entries of the audit log.
func (l *server) auditIntact(ctx context.Context) (bool, error) {
	report, err := l.instance.Chain.VerifyNewest(ctx, people.Operator("metrics"), people.NewestAudits)
	return report.Intact(), err
}

func addReady(m *web.Metrics, ready *measure.Value[bool]) {
	m.Gauge("countersign_ready", "1 if the service can do its work, as /readyz answers.", func() float64 {
		is, known := ready.Last()
		return oneIf(is && known)
	})
}

// addCertificate adds the validity of the certificate of the server.
func addCertificate(m *web.Metrics, validity func() (begin, end time.Time)) {
	m.Gauge("countersign_certificate_begins_timestamp_seconds", "When the validity of the certificate began, in Unix time; 0 while one is missing.",
		func() float64 {
			begin, _ := validity()
			return unixTime(begin)
		})
	m.Gauge("countersign_certificate_expires_timestamp_seconds", "When the certificate expires, in Unix time; 0 while one is missing.",
		func() float64 {
			_, end := validity()
			return unixTime(end)
		})
}

func addLog(m *web.Metrics, access *web.AccessLog, stderr *cli.Stream) {
	m.Counter("countersign_access_log_dropped_total", "Lines of the log that could not be written.",
		func() float64 { return float64(access.Dropped() + stderr.Lost()) })
}

// backupRecord is what metrics say of backups.
type backupRecord struct {
	// Verified is when the newest verified backup was created, zero for none.
	Verified time.Time
	// Failed reports that the last scheduled backup failed, and that there is a schedule.
	Failed bool
}

func readBackups(ctx context.Context, k *backup.Keeper) (r backupRecord, err error) {
	if r.Verified, _, err = k.LastVerified(ctx); err != nil {
		return r, err
	}
	s, err := k.Schedule(ctx, operator())
	r.Failed = backupFailed(s)
	return r, err
}

// backupFailed reports whether the last backup of a schedule failed. One that was switched off is not tried again.
func backupFailed(s backup.Schedule) bool { return s.Active && s.FailedAt.After(s.SucceededAt) }

// addBackups adds the record of backups.
func addBackups(m *web.Metrics, record *measure.Value[backupRecord]) {
	addGauge(m, record, "countersign_backup_verified_timestamp_seconds", "When the newest verified backup was created, in Unix time; 0 if no backup was verified.",
		func(r backupRecord) float64 { return unixTime(r.Verified) })
	addGauge(m, record, "countersign_backup_failed", "1 if the last scheduled backup failed; 0 without a schedule.", func(r backupRecord) float64 { return oneIf(r.Failed) })
}

// addDatabase adds how a database is reached, and whether its changes arrive.
func addDatabase(m *web.Metrics, status func() sqldb.Status) {
	m.Gauge("countersign_database_reachable", "0 while PostgreSQL is known to be out of reach.",
		func() float64 { return oneIf(status().Reachable) })
	m.Gauge("countersign_database_down_seconds", "For how long PostgreSQL has been out of reach; 0 while it is not.",
		func() float64 { return status().DownFor.Seconds() })
	m.Gauge("countersign_database_feed_live", "0 while changes by other processes do not arrive and caches are bypassed.",
		func() float64 { return oneIf(status().FeedLive) })
	m.Counter("countersign_database_feed_losses_total", "How often the feed of changes was lost.",
		func() float64 { return float64(status().FeedLosses) })
	m.Gauge("countersign_database_feed_silence_seconds", "Seconds since the feed was last known to be complete; 0 before it begins.",
		func() float64 { return status().FeedSilence.Seconds() })
	m.Counter("countersign_cache_bypassed_seconds_total", "Total seconds in which caches were bypassed.",
		func() float64 { return status().CachesBypassed.Seconds() })
}

// addWrites adds whether a database can be written.
func addWrites(m *web.Metrics, status func() sqldb.Status) {
	m.Gauge("countersign_database_writes_waiting", "Transactions that wait for a connection.",
		func() float64 { return float64(status().WritesWaiting) })
	m.Gauge("countersign_database_commits_stalled", "Commits without a confirmation by PostgreSQL. Each holds a connection.",
		func() float64 { return float64(status().CommitsStalled) })
	m.Gauge("countersign_database_read_fault", "1 from a page of a SQLite file that could not be read, until a restart.",
		func() float64 { return oneIf(status().ReadFault) })
	m.Gauge("countersign_database_commit_file_failing", "1 while the number of commits can't be written to its file. Lost commits would not be noticed.",
		func() float64 { return oneIf(status().CommitFileBehind) })
	m.Counter("countersign_database_outcomes_unknown_total", "Commits that were answered before their outcome was known.",
		func() float64 { return float64(status().OutcomesUnknown) })
	addFaults(m, status)
}

// addFaults adds why a database can't be written.
func addFaults(m *web.Metrics, status func() sqldb.Status) {
	m.Add(web.Metric{
		Name: "countersign_database_writes_off", Labels: []string{"reason"},
		Help: "1 while nothing is written until a restart: an fsync failed, a file or the lock was replaced, or the file is damaged.",
		Read: func() []web.Sample {
			off := status().WritesOff
			return samples(sqldb.WritesOffReasons[:], func(r sqldb.WritesOff) float64 { return oneIf(r == off) })
		},
	})
	m.Add(web.Metric{
		Name: "countersign_database_write_fault", Labels: []string{"reason"},
		Help: "1 from a write that failed because the disk is full or the database is read-only, until a write succeeds.",
		Read: func() []web.Sample {
			fault := status().WriteFault
			return samples(sqldb.WriteFaults[:], func(f sqldb.WriteFault) float64 { return oneIf(f == fault) })
		},
	})
	m.Add(web.Metric{
		Name: "countersign_database_write_faults_total", Labels: []string{"reason"}, Counter: true,
		Help: "Writes that failed because the disk is full or the database is read-only.",
		Read: func() []web.Sample {
			counts := status().WriteFaultCounts
			return samples(sqldb.WriteFaults[:], func(f sqldb.WriteFault) float64 { return float64(counts[slices.Index(sqldb.WriteFaults[:], f)]) })
		},
	})
}

func addFiles(m *web.Metrics, files *measure.Value[health.Files]) {
	addKnown(m, files, "countersign_data_free_bytes", "Free space on the disk of the data folder.",
		func(f health.Files) (float64, bool) { return float64(f.FreeBytes), f.FreeBytes >= 0 })
	addGauge(m, files, "countersign_database_wal_bytes", "Size of SQLite's write-ahead log; 0 on PostgreSQL.", func(f health.Files) float64 { return float64(f.LogBytes) })
}

// addJobs adds the background jobs, by their kind.
func addJobs(m *web.Metrics, rows *measure.Value[health.Rows], runs func() []jobs.Runs) {
	add := func(name, help string, value func(jobs.Figures) float64) {
		m.Add(web.Metric{Name: name, Help: help, Labels: []string{"kind"}, Read: func() (all []web.Sample) {
			read, known := rows.Last()
			for _, f := range read.Jobs {
				if known {
					all = append(all, web.Sample{Value: value(f), Labels: []string{f.Kind}})
				}
			}
			return all
		}})
	}
	add("countersign_jobs_open", "Jobs that have not ended.", func(f jobs.Figures) float64 { return float64(f.Open) })
	add("countersign_jobs_due", "Open jobs that could have been begun, and were not.", func(f jobs.Figures) float64 { return float64(f.Due) })
	add("countersign_jobs_retrying", "Open jobs that failed and are run again.", func(f jobs.Figures) float64 { return float64(f.Retrying) })
	add("countersign_jobs_oldest_due_seconds", "For how long the first of the jobs that are due could have been begun.",
		func(f jobs.Figures) float64 { return f.OldestDue.Seconds() })
	m.Add(web.Metric{
		Name: "countersign_job_runs_total", Help: "Runs of jobs by this process, by how they ended.", Counter: true, Labels: []string{"kind", "outcome"},
		Read: func() (all []web.Sample) {
			for _, r := range runs() {
				all = append(all, web.Sample{Value: float64(r.Count), Labels: []string{r.Kind, string(r.Outcome)}})
			}
			return all
		},
	})
}

// addAudit adds the audit log, and when the database was checked.
func addAudit(m *web.Metrics, rows *measure.Value[health.Rows], failing func() bool, intact *measure.Value[bool]) {
	addGauge(m, rows, "countersign_audit_unsealed", "Entries of the audit log without a seal.", func(r health.Rows) float64 { return float64(r.Unsealed) })
	addGauge(m, rows, "countersign_audit_unsealed_seconds", "For how long the first of the entries without a seal has had none.",
		func(r health.Rows) float64 { return r.UnsealedFor.Seconds() })
	m.Gauge("countersign_audit_seal_failing", "1 while entries of the audit log can't be sealed.", func() float64 { return oneIf(failing()) })
	addGauge(m, intact, "countersign_audit_intact", "0 if the last check found that the newest 10,000 entries of the audit log were tampered with.", oneIf)
	addKnown(m, rows, "countersign_database_checked_timestamp_seconds", "When a SQLite file was last found to be intact, in Unix time; 0 for never.",
		func(r health.Rows) (float64, bool) { return unixTime(r.CheckedAt), r.ChecksFile })
}

// addUses adds a writer of uses, which are counted in memory first.
func addUses(m *web.Metrics, read map[string]func() usage.Figures) {
	add := func(name, help string, counter bool, value func(usage.Figures) int64) {
		m.Add(web.Metric{Name: name, Help: help, Counter: counter, Labels: []string{"of"}, Read: func() (all []web.Sample) {
			for of, figures := range read {
				all = append(all, web.Sample{Value: float64(value(figures())), Labels: []string{of}})
			}
			return all
		}})
	}
	add("countersign_uses_waiting", "Uses that are not written to the database yet.", false, func(f usage.Figures) int64 { return f.Waiting })
	add("countersign_uses_unconfirmed_total", "Uses in commits whose outcome is unknown. They may be missing.", true,
		func(f usage.Figures) int64 { return f.Unconfirmed })
}

// samples returns one sample for each value of a label.
func samples[T ~string](all []T, value func(T) float64) []web.Sample {
	list := make([]web.Sample, len(all))
	for i, one := range all {
		list[i] = web.Sample{Value: value(one), Labels: []string{string(one)}}
	}
	return list
}

// unixTime is a time in seconds, 0 for the zero time.
func unixTime(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
