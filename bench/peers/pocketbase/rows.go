package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/pocketbase/dbx"
)

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
