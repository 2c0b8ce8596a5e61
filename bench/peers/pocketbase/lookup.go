package main

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// lookUps are the ways to find a purchase, by name.
var lookUps = map[string]func(core.App) (lookUp, error){
	"join": byJoin, "records": byRecords, "prepared": byPrepared,
}

// good finds a valid code; reason tells, when there is none, whether the key is known.
const (
	good = `SELECT p.code, p.license_type, p.price, p.currency, iif(i.support, p.supported_until, '') AS supported_until,
			p.downloaded, p.date, i.answer
		FROM keys k JOIN purchases p ON p.workspace = k.workspace JOIN items i ON i.id = p.item
		WHERE k.digest = {:digest} AND p.code = {:code} AND p.state = 'active'`
	reason = `SELECT 1 FROM keys WHERE digest = {:digest}`
)

// byJoin asks by PocketBase's query builder.
func byJoin(app core.App) (lookUp, error) {
	return func(digest, code string) (purchase, error) {
		var p purchase
		err := app.DB().NewQuery(good).Bind(dbx.Params{"digest": digest, "code": code}).One(&p)
		if errors.Is(err, sql.ErrNoRows) {
			err = refusal(app, digest)
		}
		return p, err
	}, nil
}

// refusal is errKey or errCode.
func refusal(app core.App, digest string) error {
	var known int
	err := app.DB().NewQuery(reason).Bind(dbx.Params{"digest": digest}).Row(&known)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return errKey
	case err != nil:
		return err
	}
	return errCode
}

// byPrepared goes round the query builder, which prepares each query again.
func byPrepared(app core.App) (lookUp, error) {
	find, err := app.ConcurrentDB().(*dbx.DB).DB().Prepare(strings.NewReplacer("{:", ":", "}", "").Replace(good))
	if err != nil {
		return nil, err
	}
	return func(digest, code string) (purchase, error) {
		var p purchase
		err := find.QueryRow(sql.Named("digest", digest), sql.Named("code", code)).
			Scan(&p.Code, &p.License, &p.Price, &p.Currency, &p.SupportedUntil, &p.Downloaded, &p.Date, &p.Item)
		if errors.Is(err, sql.ErrNoRows) {
			err = refusal(app, digest)
		}
		return p, err
	}, nil
}

// byRecords asks for the key, the purchase and its item as records.
func byRecords(app core.App) (lookUp, error) {
	return func(digest, code string) (purchase, error) {
		key, err := app.FindFirstRecordByData("keys", "digest", digest)
		if errors.Is(err, sql.ErrNoRows) {
			return purchase{}, errKey
		}
		if err != nil {
			return purchase{}, err
		}
		r, err := app.FindFirstRecordByData("purchases", "code", code)
		if errors.Is(err, sql.ErrNoRows) {
			return purchase{}, errCode
		}
		if err != nil {
			return purchase{}, err
		}
		if r.GetString("workspace") != key.GetString("workspace") || r.GetString("state") != "active" {
			return purchase{}, errCode
		}
		if failed := app.ExpandRecord(r, []string{"item"}, nil); len(failed) > 0 {
			return purchase{}, failed["item"]
		}
		return ofRecord(r), nil
	}, nil
}

// ofRecord reads a record whose item is expanded.
func ofRecord(r *core.Record) purchase {
	item, supported := r.ExpandedOne("item"), ""
	if item.GetBool("support") {
		supported = r.GetString("supported_until")
	}
	return purchase{
		Code: r.GetString("code"), License: r.GetString("license_type"), Price: hundredths(r.GetInt("price")),
		Currency: r.GetString("currency"), Item: types.JSONRaw(item.GetString("answer")),
		SupportedUntil: supported, Downloaded: r.GetBool("downloaded"), Date: r.GetString("date"),
	}
}
