package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/spf13/cobra"
)

func newRequestLog(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "log", Short: "Log of API requests: tail, show, export",
	}, newLogTail(a), newLogShow(a), newLogExport(a))
}

// logFlags are the filters of the log as they were typed.
type logFlags struct {
	workspace string
	from, to  countersign.Timestamp
	filter    requests.Filter
}

func (f *logFlags) register(a *app, c *cobra.Command) {
	flags := c.Flags()
	a.workspaceFlag(c, &f.workspace, "only the calls with keys of this `username`")
	flags.StringVar(&f.filter.Endpoint, "endpoint", "", "only the calls of this `path`, like /api/purchases/validation")
	flags.Int64Var(&f.filter.Key, "key", 0, "only the calls with the key of this `id`")
	a.itemFlag(c, &f.filter.Item, "only the calls about the item with this `id`")
	cli.ChoiceVar(c, &f.filter.Result, "result", "", "only the calls with this result: valid or failed", requests.Valid, requests.Failed)
	flags.StringVar(&f.filter.Reason, "reason", "", "only the calls that failed with this error `code`, like purchase_refunded")
	flags.StringVar(&f.filter.Address, "address", "", "only the calls from this `address`")
	cli.Var(flags, &f.from, cli.ParseDate, "time", "from", "only the calls from this `time` on, like 2026-11-23 or 2026-11-23T14:00:00Z")
	cli.Var(flags, &f.to, cli.ParseDate, "time", "to", "only the calls before this `time`")
}

// resolve returns the filter, and the usernames of the workspaces by their ids.
func (f *logFlags) resolve(ctx context.Context, s *store.Store) (requests.Filter, map[int64]string, error) {
	all, err := s.Workspaces(ctx, operator())
	if err != nil {
		return requests.Filter{}, nil, err
	}
	names := make(map[int64]string, len(all))
	for _, w := range all {
		names[w.ID] = w.Account.Username
	}
	filter := f.filter
	filter.From, filter.To = f.from.Time, f.to.Time
	if f.workspace == "" {
		return filter, names, nil
	}
	i := slices.IndexFunc(all, func(w store.Workspace) bool { return w.Account.Username == f.workspace })
	if i < 0 {
		return filter, names, fault.NotFound("workspace_not_found", fmt.Sprintf("No workspace %q", f.workspace))
	}
	filter.Workspace = all[i].ID
	return filter, names, nil
}

// requestView is a call as it is printed.
type requestView struct {
	ID         string                `json:"id" row:"9,REQUEST ID" card:"1,Request id"`
	At         countersign.Timestamp `json:"at" row:"1,WHEN (UTC),second" card:"2,When"`
	Method     string                `json:"method" row:"2,METHOD" card:"3,Method"`
	Endpoint   string                `json:"endpoint" row:"3,ENDPOINT" card:"4,Endpoint"`
	Status     int64                 `json:"status" row:"4,STATUS" card:"5,Status"`
	Result     requests.Result       `json:"result" card:"6,Result"`
	Reason     *string               `json:"reason"`
	Workspace  *string               `json:"workspace" card:"8,Workspace"`
	KeyID      *int64                `json:"key_id" row:"7,KEY" card:"9,Key"`
	ItemID     *int64                `json:"item_id" card:"10,Item"`
	PurchaseID *int64                `json:"purchase_id" card:"11,Purchase"`
	Millis     float64               `json:"ms" row:"6,MS" card:"12,Milliseconds"`
	Address    string                `json:"address" row:"8,ADDRESS" card:"13,Address"`
	Agent      string                `json:"user_agent" card:"14,User agent"`
	Sent       []sentView            `json:"parameters"`
	Params     []cli.Line            `json:"-" card:"15,"`
	Outcome    string                `json:"-" row:"5,RESULT"`
}

// oneRequestView is a call with the reason in a sentence.
type oneRequestView struct {
	requestView
	Why string `json:"why" card:"7,Why"`
}

// sentView is a parameter of a call, with its value masked.
type sentView struct {
	Name  string `json:"name"`
	In    string `json:"in"`
	Value string `json:"value"`
}

func viewRequest(c requests.Call, names map[int64]string) requestView {
	v := requestView{
		ID: c.ID.String(), At: countersign.At(c.Time()), Method: c.Method, Endpoint: c.Endpoint, Status: int64(c.Status), Result: c.Result(),
		Reason: orNull(c.Reason), KeyID: orNull(c.Key), ItemID: orNull(c.Item), PurchaseID: orNull(c.Purchase),
		Millis: float64(c.Took.Microseconds()) / 1000, Address: c.Address, Agent: c.Agent, Sent: []sentView{}, Outcome: cmp.Or(c.Reason, string(requests.Valid)),
	}
	if c.Workspace != 0 {
		v.Workspace = orNull(cmp.Or(names[c.Workspace], strconv.FormatInt(c.Workspace, 10)))
	}
	for _, p := range c.Sent {
		v.Sent = append(v.Sent, sentView{p.Name, p.Place.String(), p.Value})
		v.Params = append(v.Params, cli.Line{Label: p.Name, Value: cmp.Or(p.Value, "(not kept)") + " in " + p.Place.String()})
	}
	return v
}

// orNull returns a pointer to a value, nil for the zero value.
func orNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// followEvery is how often a tail that follows looks for new calls.
const followEvery = time.Second

func newLogTail(a *app) *cobra.Command {
	var flags logFlags
	var follow bool
	lines := 20
	c := on(a.withStore, &cobra.Command{
		Use: "tail", Short: "Print the newest API requests, the oldest of them first; with --follow, go on", Args: cli.Args(),
		Long: `Print the newest API requests, the oldest of them first. With --follow, new ones are printed
within two seconds, until Ctrl-C. It works beside a running server.`,
		Example: `  countersign store log tail
  countersign store log tail --follow --result failed --workspace ada`,
		PreRunE: cli.Refuse(func() bool { return lines < 0 || lines > 1000 }, "--lines is a number from 0 to 1000"),
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		return a.tailLog(ctx, s, flags, lines, follow)
	})
	flags.register(a, c)
	c.Flags().IntVarP(&lines, "lines", "n", lines, "how many requests to print first")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "print new requests until Ctrl-C")
	return c
}

func (a *app) tailLog(ctx context.Context, s *store.Store, flags logFlags, lines int, follow bool) error {
	filter, names, err := flags.resolve(ctx, s)
	if err != nil {
		return err
	}
	calls, err := newestCalls(ctx, s.Requests, filter, lines)
	if err != nil {
		return err
	}
	view := func(c requests.Call) requestView { return viewRequest(c, names) }
	print := func(calls []requests.Call) error {
		slices.Reverse(calls)
		return cli.PrintList(a.Console, calls, view, "No matching requests.", nil)
	}
	tail := s.Requests.Tail(filter, calls)
	if err := print(calls); err != nil || !follow {
		return errorOr(err, a.noteGaps(ctx, s.Requests))
	}
	for group.Sleep(ctx, followEvery, nil) {
		calls, _, err := tail.Next(ctx, operator(), 0)
		if err != nil {
			return err
		}
		for _, c := range slices.Backward(calls) {
			if err := a.printCall(view(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// printCall prints one call that came in while a tail follows.
func (a *app) printCall(v requestView) error {
	if a.JSON {
		return a.PrintJSON(v)
	}
	key := "-"
	if v.KeyID != nil {
		key = strconv.FormatInt(*v.KeyID, 10)
	}
	a.Print("%s   %-6s   %s   %d   %s   %v   %s   %s   %s\n", cli.Second(v.At), v.Method, v.Endpoint, v.Status, v.Outcome, v.Millis, key, cli.Safe(v.Address), v.ID)
	return nil
}

// newestCalls reads up to n of the newest calls.
func newestCalls(ctx context.Context, log *requests.Log, f requests.Filter, n int) (all []requests.Call, err error) {
	for n > len(all) {
		f.Limit = n - len(all)
		page, err := log.Calls(ctx, operator(), f)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Calls...)
		if page.Next == 0 {
			break
		}
		f.Before = page.Next
	}
	return all, nil
}

// noteGaps says when calls were not logged.
func (a *app) noteGaps(ctx context.Context, log *requests.Log) error {
	state, err := log.State(ctx, operator(), 0)
	for _, g := range state.Gaps {
		a.Note("From %s to %s, %s were not logged.", cli.Second(countersign.At(g.From)), cli.Second(countersign.At(g.Until)), cli.Count(g.Calls, "request", "requests"))
	}
	return err
}

func newLogShow(a *app) *cobra.Command {
	return on(a.withStore, &cobra.Command{
		Use: "show REQUEST-ID", Short: "Show an API request by the id that its client has from X-Request-Id", Args: cli.Args("request id"),
		Example: "  countersign store log show 342a61d3bfe0a7c1",
	}, func(ctx context.Context, s *store.Store, args []string) error {
		_, names, err := new(logFlags).resolve(ctx, s)
		if err != nil {
			return err
		}
		call, err := s.Requests.Call(ctx, operator(), 0, args[0])
		return a.Show(oneRequestView{viewRequest(call, names), requests.Why(call.Reason)}, err)
	})
}

func newLogExport(a *app) *cobra.Command {
	var flags logFlags
	format := "csv"
	c := on(a.withStore, &cobra.Command{
		Use: "export", Short: "Write API requests to stdout as CSV or JSON Lines, newest first", Args: cli.Args(),
		Example: `  countersign store log export --from 2026-11-01 --to 2026-12-01 > november.csv
  countersign store log export --result failed --format jsonl`,
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		filter, names, err := flags.resolve(ctx, s)
		if err != nil {
			return err
		}
		a.Format = format
		list := cli.NewList[requestView](a.Console)
		err = eachCall(ctx, s.Requests, filter, func(c requests.Call) error { return list.Add(viewRequest(c, names)) })
		if err != nil {
			return err
		}
		return list.End("No matching requests.")
	})
	flags.register(a, c)
	cli.ChoiceVar(c, &format, "format", "", "csv or jsonl", "csv", "jsonl")
	return c
}

// exportPage is how many calls an export reads at once.
const exportPage = 1000

// eachCall calls fn with all calls that a filter selects, the newest first.
func eachCall(ctx context.Context, log *requests.Log, f requests.Filter, fn func(requests.Call) error) error {
	f.Limit = exportPage
	for {
		page, err := log.Calls(ctx, operator(), f)
		if err != nil {
			return err
		}
		for _, c := range page.Calls {
			if err := fn(c); err != nil {
				return err
			}
		}
		if page.Next == 0 {
			return nil
		}
		f.Before = page.Next
	}
}
