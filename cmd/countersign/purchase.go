package main

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newPurchase(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "purchase", Short: "What was sold: list, show, check, create, refund", SuggestionsMinimumDistance: 2,
	}, newPurchaseList(a), newPurchaseShow(a), newPurchaseCheck(a), newPurchaseCreate(a), newPurchaseRefund(a))
}

// purchaseJSON is a purchase as --json prints it, with what the API keeps to
// itself.
type purchaseJSON struct {
	ID             int64                  `json:"id"`
	PurchaseCode   string                 `json:"purchase_code"`
	Workspace      string                 `json:"workspace"`
	ItemID         int64                  `json:"item_id"`
	LicenseType    string                 `json:"license_type"`
	Price          countersign.Money      `json:"price"`
	Currency       string                 `json:"currency"`
	SupportedUntil *countersign.Timestamp `json:"supported_until"`
	Downloaded     bool                   `json:"downloaded"`
	Date           countersign.Timestamp  `json:"date"`
	State          store.State            `json:"state"`
	StateAt        *countersign.Timestamp `json:"state_at"`
	Buyer          buyerJSON              `json:"buyer"`
}

type buyerJSON struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func jsonOfPurchase(p store.Purchase, workspace string) purchaseJSON {
	return purchaseJSON{
		ID: p.ID, PurchaseCode: p.Code, Workspace: workspace, ItemID: p.ItemID, LicenseType: p.License, Price: p.Price, Currency: p.Currency,
		SupportedUntil: orNull(p.SupportedUntil), Downloaded: p.Downloaded, Date: p.SoldAt, State: p.State, StateAt: orNull(p.StateAt),
		Buyer: buyerJSON{p.BuyerName, p.BuyerEmail},
	}
}

// printPurchase prints one purchase.
func (a *app) printPurchase(p store.Purchase, workspace string) error {
	state := string(p.State)
	if !p.StateAt.IsZero() {
		state += " since " + second(p.StateAt)
	}
	return a.printCard(jsonOfPurchase(p, workspace),
		pair{"Code", p.Code}, pair{"Id", strconv.FormatInt(p.ID, 10)}, pair{"State", state}, pair{"Workspace", workspace}, pair{"Item", strconv.FormatInt(p.ItemID, 10)},
		pair{"License", p.License}, pair{"Price", money(p.Price, p.Currency)}, pair{"Sold", second(p.SoldAt)},
		pair{"Supported until", second(p.SupportedUntil)}, pair{"Downloaded", yesNo(p.Downloaded)},
		pair{"Buyer", p.BuyerName}, pair{"E-mail", p.BuyerEmail},
	)
}
