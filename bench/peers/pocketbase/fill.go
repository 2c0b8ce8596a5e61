package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/core"
)

// fill makes the collections and their rows; the index on the codes comes last.
func fill(app core.App, lines io.Reader) error {
	purchases, err := makeCollections(app)
	if err != nil {
		return err
	}
	if err := app.RunInTransaction(func(tx core.App) error { return insertAll(tx.DB(), lines) }); err != nil {
		return err
	}
	purchases.AddIndex("idx_purchases_code", true, "code", "")
	if err := app.Save(purchases); err != nil {
		return err
	}
	_, err = app.NonconcurrentDB().NewQuery("PRAGMA wal_checkpoint(TRUNCATE)").Execute()
	return err
}

func makeCollections(app core.App) (purchases *core.Collection, err error) {
	keys := core.NewBaseCollection("keys")
	keys.Fields.Add(&core.TextField{Name: "workspace"}, &core.TextField{Name: "digest"})
	keys.AddIndex("idx_keys_digest", true, "digest", "")
	items := core.NewBaseCollection("items")
	// An item stands in its row as the answer prints it.
	items.Fields.Add(&core.TextField{Name: "workspace"}, &core.BoolField{Name: "support"}, &core.JSONField{Name: "answer"})
	if err := errors.Join(app.Save(keys), app.Save(items)); err != nil {
		return nil, err
	}
	purchases = core.NewBaseCollection("purchases")
	purchases.Fields.Add(
		&core.TextField{Name: "workspace"}, &core.TextField{Name: "code"},
		&core.RelationField{Name: "item", CollectionId: items.Id, MaxSelect: 1},
		&core.TextField{Name: "license_type"}, &core.NumberField{Name: "price"}, &core.TextField{Name: "currency"},
		&core.TextField{Name: "supported_until"}, &core.BoolField{Name: "downloaded"}, &core.TextField{Name: "date"},
		&core.TextField{Name: "state"}, &core.TextField{Name: "buyer_name"}, &core.TextField{Name: "buyer_email"},
	)
	return purchases, app.Save(purchases)
}

// insertAll goes below the records, whose checks would take hours for millions
// of rows.
func insertAll(db dbx.Builder, lines io.Reader) error {
	keys := db.NewQuery(`INSERT INTO keys (workspace, digest) VALUES ({:workspace}, {:digest})`).Prepare()
	defer keys.Close()
	items := db.NewQuery(`INSERT INTO items (id, workspace, support, answer) VALUES ({:id}, {:workspace}, {:support}, {:answer})`).Prepare()
	defer items.Close()
	purchases := db.NewQuery(`INSERT INTO purchases (id, workspace, code, item, license_type, price, currency,
			supported_until, downloaded, date, state, buyer_name, buyer_email)
		VALUES ({:id}, {:workspace}, {:code}, {:item}, {:license}, {:price}, {:currency},
			{:supported}, {:downloaded}, {:date}, {:state}, {:buyer}, {:email})`).Prepare()
	defer purchases.Close()
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 1<<20)
	for number := int64(1); in.Scan(); number++ {
		var kind struct {
			Type string `json:"type"`
		}
		err := json.Unmarshal(in.Bytes(), &kind)
		var insert *dbx.Query
		var row dbx.Params
		switch kind.Type {
		case "key":
			insert = keys
			row, err = keyRow(in.Bytes())
		case "item":
			insert = items
			row, err = itemRow(in.Bytes())
		case "purchase":
			insert = purchases
			row, err = purchaseRow(in.Bytes(), number)
		}
		if err == nil && insert != nil {
			_, err = insert.Bind(row).Execute()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return in.Err()
}

// The import lines, as far as the peer keeps them.
type (
	keyLine struct {
		Workspace string `json:"workspace"`
		Key       string `json:"key"`
	}

	itemLine struct {
		Workspace string `json:"workspace"`
		Kind      string `json:"kind"`
		Support   bool   `json:"support"`
		itemAnswer
	}

	purchaseLine struct {
		Workspace      string  `json:"workspace"`
		Item           int64   `json:"item_id"`
		Code           string  `json:"purchase_code"`
		License        string  `json:"license_type"`
		Price          float64 `json:"price"`
		Currency       string  `json:"currency"`
		SupportedUntil string  `json:"supported_until"`
		Downloaded     bool    `json:"downloaded"`
		Date           string  `json:"date"`
		State          string  `json:"state"`
		Buyer          struct {
			Name  string `json:"name"`
			Email string `json:"email"`
		} `json:"buyer"`
	}
)

// itemAnswer is an item as the answer prints it.
type itemAnswer struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	SubCategory string   `json:"sub_category"`
	Options     []string `json:"options"`
	Version     string   `json:"version"`
	DemoLink    string   `json:"demo_link"`
	Tags        []string `json:"tags"`
	Media       struct {
		Thumbnail string  `json:"thumbnail"`
		Image     *string `json:"preview_image,omitempty"`
		Video     *string `json:"preview_video,omitempty"`
		Audio     *string `json:"preview_audio,omitempty"`
	} `json:"media"`
	Price struct {
		Regular  json.RawMessage `json:"regular"`
		Extended json.RawMessage `json:"extended"`
	} `json:"price"`
	Currency    string `json:"currency"`
	PublishedAt string `json:"published_at"`
}

// recordID is the id of the record that stands for a number: 15 characters, as
// PocketBase wants.
func recordID(n int64) string { return fmt.Sprintf("%015d", n) }

func keyRow(text []byte) (dbx.Params, error) {
	var l keyLine
	err := json.Unmarshal(text, &l)
	return dbx.Params{"workspace": l.Workspace, "digest": digest(l.Key)}, err
}

func itemRow(text []byte) (dbx.Params, error) {
	l := itemLine{itemAnswer: itemAnswer{Options: []string{}, Tags: []string{}}}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Kind == "other" && l.Media.Image == nil {
		l.Media.Image = new(string)
	}
	answer, err := marshal(l.itemAnswer)
	return dbx.Params{"id": recordID(l.ID), "workspace": l.Workspace, "support": l.Support, "answer": string(answer)}, err
}

func purchaseRow(text []byte, number int64) (dbx.Params, error) {
	var l purchaseLine
	err := json.Unmarshal(text, &l)
	return dbx.Params{
		"id": recordID(number), "workspace": l.Workspace, "code": l.Code, "item": recordID(l.Item),
		"license": l.License, "price": int64(math.Round(l.Price * 100)), "currency": l.Currency,
		"supported": l.SupportedUntil, "downloaded": l.Downloaded, "date": l.Date, "state": l.State,
		"buyer": l.Buyer.Name, "email": l.Buyer.Email,
	}, err
}
