package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/sample"
)

// How many calls a day the workspaces of the demo have.
const (
	callsOfDemo   = 60 // of the workspace whose key the demo prints
	callsOfOthers = 20
)

// fillHistory fills the demo's log of API requests, unless it has calls.
func (a *app) fillHistory(ctx context.Context, s *store.Store) error {
	keys, err := s.Keys(ctx, operator(), "")
	if err != nil {
		return err
	}
	var callers []sample.Caller
	for _, k := range keys {
		c, err := callerOf(ctx, s, k)
		if err != nil {
			return err
		}
		if k.Class == store.ClassSecret && len(c.Sold) > 0 {
			callers = append(callers, c)
		}
	}
	calls := sample.Calls(a.Now(), callers)
	entries := make([]requests.Entry, len(calls))
	for i, c := range calls {
		entries[i] = entryOf(c, i)
	}
	return s.AddHistory(ctx, operator(), entries)
}

// callerOf is who calls with a key.
func callerOf(ctx context.Context, s *store.Store, k store.Key) (sample.Caller, error) {
	c := sample.Caller{Workspace: k.WorkspaceID, Key: k.ID, ADay: callsOfOthers}
	if k.Workspace == sample.NewDemo().Workspace {
		c.ADay = callsOfDemo
	}
	items, err := s.ListItems(ctx, operator(), k.Workspace)
	if err != nil {
		return c, err
	}
	for _, i := range items {
		c.Items = append(c.Items, i.ID)
	}
	newest, err := s.ListPurchases(ctx, operator(), k.Workspace, store.PurchaseFilter{Limit: 500}, store.PurchasePlace{})
	for i := len(newest.Purchases) - 1; i >= 0; i-- {
		p := newest.Purchases[i]
		c.Sold = append(c.Sold, sample.Sold{ID: p.ID, Item: p.ItemID, Code: p.Code, Reason: endCodes[p.State]})
	}
	return c, err
}

// endCodes are the error codes of purchases that are not active.
var endCodes = map[store.State]string{
	store.StateRefunded: countersign.CodePurchaseRefunded, store.StateChargedBack: countersign.CodePurchaseChargedBack, store.StateRevoked: countersign.CodePurchaseRevoked,
}

// entryOf is the i-th call as the log has it.
func entryOf(c sample.Call, i int) requests.Entry {
	e := requests.Entry{
		Number: requestid.First(c.At) + requestid.Number(i), Workspace: c.Workspace, Key: c.Key, Item: c.Item, Purchase: c.Purchase,
		Endpoint: c.Endpoint, Method: c.Method, Status: c.Status, Reason: c.Reason, Took: c.Took, Addr: c.Addr, Agent: c.Agent,
	}
	e.Sent.Add(requests.InAuthorization, "api_key", "")
	if c.Param != "" {
		place := requests.InBody
		if c.Method == "GET" {
			place = requests.InQuery
		}
		e.Sent.Add(place, c.Param, c.Value)
	}
	return e
}
