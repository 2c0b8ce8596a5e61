package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// purchase is what the answer says of a purchase, in the answer's order.
type purchase struct {
	Code           string        `db:"code" json:"purchase_code"`
	License        string        `db:"license_type" json:"license_type"`
	Price          hundredths    `db:"price" json:"price"`
	Currency       string        `db:"currency" json:"currency"`
	Item           types.JSONRaw `db:"answer" json:"item"`
	SupportedUntil string        `db:"supported_until" json:"supported_until,omitempty"`
	Downloaded     bool          `db:"downloaded" json:"downloaded"`
	Date           string        `db:"date" json:"date"`
}

// hundredths is an amount, printed with two decimals.
type hundredths int64

func (h hundredths) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%02d", h/100, h%100), nil
}

var (
	errKey  = errors.New("Invalid request")
	errCode = errors.New("Invalid purchase code")
)

// lookUp finds the purchase that a code stands for in the workspace of a key,
// which is given by its digest. Its errors are errKey and errCode, or unexpected.
type lookUp func(digest, code string) (purchase, error)

// validate is the handler of the route.
func validate(find lookUp) func(*core.RequestEvent) error {
	return func(e *core.RequestEvent) error {
		p, err := find(digest(e.Request.Header.Get("X-Api-Key")), e.Request.PostFormValue("purchase_code"))
		e.Response.Header().Set("Cache-Control", "no-store")
		switch {
		case errors.Is(err, errKey):
			return answer(e, http.StatusUnauthorized, failure{"error", err.Error()})
		case errors.Is(err, errCode):
			return answer(e, http.StatusNotFound, failure{"error", err.Error()})
		case err != nil:
			return err
		}
		valid := success{Status: "success"}
		valid.Data.Purchase = p
		return answer(e, http.StatusOK, valid)
	}
}

type success struct {
	Status string `json:"status"`
	Data   struct {
		Purchase purchase `json:"purchase"`
	} `json:"data"`
}

type failure struct {
	Status  string `json:"status"`
	Message string `json:"msg"`
}

// answer writes what PocketBase's own e.JSON would, without the line end and
// without the escapes for HTML, which the store does not write either.
func answer(e *core.RequestEvent, status int, body any) error {
	text, err := marshal(body)
	if err != nil {
		return err
	}
	return e.Blob(status, "application/json; charset=utf-8", text)
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// lookUps are the ways to find a purchase, by name.
var lookUps = map[string]func(core.App) lookUp{"join": byJoin, "records": byRecords}

// find finds a valid code; without one, reason reports whether the key is known.
const (
	find = `SELECT p.code, p.license_type, p.price, p.currency, iif(i.support, p.supported_until, '') AS supported_until,
			p.downloaded, p.date, i.answer
		FROM keys k JOIN purchases p ON p.workspace = k.workspace JOIN items i ON i.id = p.item
		WHERE k.digest = {:digest} AND p.code = {:code} AND p.state = 'active'`
	reason = `SELECT 1 FROM keys WHERE digest = {:digest}`
)

// byJoin asks by PocketBase's query builder.
func byJoin(app core.App) lookUp {
	return func(digest, code string) (purchase, error) {
		var p purchase
		err := app.DB().NewQuery(find).Bind(dbx.Params{"digest": digest, "code": code}).One(&p)
		if errors.Is(err, sql.ErrNoRows) {
			err = refusal(app, digest)
		}
		return p, err
	}
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

// byRecords asks for the key, the purchase and its item as records.
func byRecords(app core.App) lookUp {
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
	}
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
