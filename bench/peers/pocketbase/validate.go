package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

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
		good := success{Status: "success"}
		good.Data.Purchase = p
		return answer(e, http.StatusOK, good)
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
