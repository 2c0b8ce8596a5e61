package numbers

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// MaxDays is how many days a report has at most.
const MaxDays = 366

// Service reads the sums of an addon. Its methods may be called from many goroutines.
type Service struct {
	db     *addondb.DB
	access *access.Control
}

// New returns the numbers in a database.
func New(db *addondb.DB, control *access.Control) *Service { return &Service{db, control} }

// Row is the numbers of a day or a month.
type Row struct {
	// From is its first day in UTC.
	From time.Time
	// Active, InGrace and OnHold are the purchases at its end, or now.
	Active, InGrace, OnHold         int64
	New, Renewed, Churned, Refunded int64
	// OneTime is the products that were bought once.
	OneTime int64
	// Revenue is what was paid minus what was given back, in hundredths, by the currencies of the report.
	Revenue []int64
}

// Report is the numbers of a time, the newest row first.
type Report struct {
	Rows []Row
	// Currencies are those of Row.Revenue, in the order of the alphabet.
	Currencies []string
	// Unread is how many orders still have to be read: their money is missing.
	Unread int64
	// Plans are the numbers by product and base plan.
	Plans []Plan
	// Recurring is what all purchases that renew now pay in a month, and Unpriced how many of their products are left out
	// because the price or the period is not known.
	Recurring []Amount
	Unpriced  int64
}

// Query selects the time of a report: its first and its last day, and whether it has a row for
// each month in place of each day.
type Query struct {
	From, To time.Time
	Monthly  bool
}

// Report adds up the numbers of a time. One of more than [MaxDays], or of a first day after
// the last one, is of kind Invalid (report_time).
func (s *Service) Report(ctx context.Context, a people.Actor, q Query) (r Report, err error) {
	if err := s.access.May(a, access.ManageMembers); err != nil {
		return r, err
	}
	const day = 24 * time.Hour
	q.From, q.To = q.From.UTC().Truncate(day), q.To.UTC().Truncate(day)
	until := q.To.AddDate(0, 0, 1)
	if q.To.Before(q.From) || until.Sub(q.From) > MaxDays*day {
		return r, fault.Invalid("report_time", "A report is of 1 to 366 days")
	}
	var before, sums []addondb.Number
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) (err error) {
		if before, err = tx.NumbersBefore(ctx, Day(q.From)); err != nil {
			return err
		}
		if sums, err = tx.Numbers(ctx, Day(q.From), Day(until)); err != nil {
			return err
		}
		if r.Unread, err = tx.CountUnreadOrders(ctx); err != nil {
			return err
		}
		return r.readPlans(ctx, tx, Day(q.From), Day(until))
	})
	if err != nil {
		return r, err
	}
	r.fill(q, before, sums)
	return r, nil
}

// fill adds the rows, from the sums before the first day and those of the days.
func (r *Report) fill(q Query, before, sums []addondb.Number) {
	for _, n := range sums {
		if n.Currency != "" && !slices.Contains(r.Currencies, n.Currency) {
			r.Currencies = append(r.Currencies, n.Currency)
		}
	}
	slices.Sort(r.Currencies)
	row := Row{}
	for _, n := range before {
		*row.count(n.Measure) += n.Value
	}
	for day := q.From; !day.After(q.To); day = day.AddDate(0, 0, 1) {
		if r.Rows == nil || !q.Monthly || day.Day() == 1 {
			row = Row{From: day, Active: row.Active, InGrace: row.InGrace, OnHold: row.OnHold, Revenue: make([]int64, len(r.Currencies))}
			r.Rows = append(r.Rows, row)
		}
		for len(sums) > 0 && sums[0].Day == Day(day) {
			row.add(sums[0], r.Currencies)
			sums = sums[1:]
		}
		r.Rows[len(r.Rows)-1] = row
	}
	slices.Reverse(r.Rows)
}

// count is the number of a measure that counts.
func (r *Row) count(measure string) *int64 {
	switch measure {
	case Active:
		return &r.Active
	case InGrace:
		return &r.InGrace
	case OnHold:
		return &r.OnHold
	case Begun:
		return &r.New
	case Renewed:
		return &r.Renewed
	case Churned:
		return &r.Churned
	case Refunded:
		return &r.Refunded
	case OneTime:
		return &r.OneTime
	}
	return new(int64)
}

// add adds a sum to the row.
func (r *Row) add(n addondb.Number, currencies []string) {
	i := slices.Index(currencies, n.Currency)
	switch n.Measure {
	case Revenue:
		r.Revenue[i] += n.Value
	case Refunds:
		r.Revenue[i] -= n.Value
	default:
		*r.count(n.Measure) += n.Value
	}
}
