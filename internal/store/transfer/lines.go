package transfer

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/go-json-experiment/json/jsontext"
)

// The lines of an import or export file: one JSON object a line, its type first.
type (
	workspaceLine struct {
		Type         string                `json:"type"`
		Username     string                `json:"username"`
		Name         nameLine              `json:"name"`
		Email        string                `json:"email"`
		Balance      amount                `json:"balance"`
		Currency     string                `json:"currency"`
		Profile      countersign.Profile   `json:"profile"`
		RegisteredAt countersign.Timestamp `json:"registered_at"`
		// Switches that a line does not name stay as they are.
		Always200       *bool  `json:"always_200,omitempty"`
		RefuseQueryKeys *bool  `json:"refuse_query_keys,omitempty"`
		Quota           *int64 `json:"quota,omitempty"`
	}
	nameLine struct {
		Firstname string `json:"firstname"`
		Lastname  string `json:"lastname"`
	}
	keyLine struct {
		Type              string                 `json:"type"`
		Workspace         string                 `json:"workspace"`
		Name              string                 `json:"name"`
		Class             storedb.Class          `json:"class,omitempty"`
		ItemID            int64                  `json:"item_id,omitempty"`
		Key               string                 `json:"key,omitempty"`
		ExpiresAt         *countersign.Timestamp `json:"expires_at,omitempty"`
		RevokedAt         *countersign.Timestamp `json:"revoked_at,omitempty"`
		PreviousKey       string                 `json:"previous_key,omitempty"`
		PreviousExpiresAt *countersign.Timestamp `json:"previous_expires_at,omitempty"`
	}
	itemLine struct {
		Type        string                `json:"type"`
		Workspace   string                `json:"workspace"`
		ID          int64                 `json:"id"`
		Kind        storedb.Kind          `json:"kind"`
		Support     bool                  `json:"support"`
		Name        string                `json:"name"`
		Description string                `json:"description"`
		Category    string                `json:"category"`
		SubCategory string                `json:"sub_category"`
		Options     countersign.List      `json:"options"`
		Version     countersign.Version   `json:"version"`
		DemoLink    string                `json:"demo_link"`
		Tags        countersign.List      `json:"tags"`
		Media       countersign.ItemMedia `json:"media"`
		Price       priceLine             `json:"price"`
		Currency    string                `json:"currency"`
		PublishedAt countersign.Timestamp `json:"published_at"`
		// Licensing stays as it is when a line does not name it.
		Licensing *licensingLine `json:"licensing,omitempty"`
		mark      string         // the currency beside an amount of CSV
	}
	priceLine struct {
		Regular  amount `json:"regular"`
		Extended amount `json:"extended"`
	}
	purchaseLine struct {
		Type           string                 `json:"type"`
		Workspace      string                 `json:"workspace"`
		ItemID         int64                  `json:"item_id"`
		PurchaseCode   string                 `json:"purchase_code"`
		LicenseType    string                 `json:"license_type"`
		Price          amount                 `json:"price"`
		Currency       string                 `json:"currency"`
		SupportedUntil *countersign.Timestamp `json:"supported_until,omitempty"`
		Downloaded     bool                   `json:"downloaded"`
		Date           countersign.Timestamp  `json:"date"`
		State          storedb.State          `json:"state"`
		StateAt        *countersign.Timestamp `json:"state_at,omitempty"`
		Buyer          buyerLine              `json:"buyer"`
		sold           soldRow                // of CSV
		mark           string                 // the currency beside an amount of CSV
	}
	buyerLine struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	}
)

// amount is money in a line: a JSON number with at most two decimals and no
// exponent.
type amount struct{ countersign.Money }

// UnmarshalJSON reads an amount.
func (a *amount) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() != '0' {
		return fmt.Errorf("an amount is a number, not %s", text)
	}
	m, err := countersign.ParseMoney(string(text))
	if err != nil {
		return fmt.Errorf("the amount %s is not a plain number with at most two decimals", text)
	}
	a.Money = m
	return nil
}

func (l workspaceLine) workspace() storedb.Workspace {
	w := storedb.Workspace{Account: countersign.Account{
		Name: countersign.Name{Firstname: l.Name.Firstname, Lastname: l.Name.Lastname}, Username: l.Username, Email: l.Email,
		Balance: l.Balance.Money, Currency: l.Currency, Profile: l.Profile, RegisteredAt: l.RegisteredAt,
	}}
	l.setSwitches(&w.Switches)
	return w
}

// setSwitches sets those that the line names.
func (l workspaceLine) setSwitches(s *storedb.Switches) {
	if l.Always200 != nil {
		s.Always200 = *l.Always200
	}
	if l.RefuseQueryKeys != nil {
		s.RefuseQueryKeys = *l.RefuseQueryKeys
	}
	if l.Quota != nil {
		s.Quota = *l.Quota
	}
}

func lineOfWorkspace(w storedb.Workspace) workspaceLine {
	a, s := w.Account, w.Switches
	return workspaceLine{
		Type: "workspace", Username: a.Username, Name: nameLine{a.Name.Firstname, a.Name.Lastname}, Email: a.Email,
		Balance: amount{a.Balance}, Currency: a.Currency, Profile: a.Profile, RegisteredAt: a.RegisteredAt,
		Always200: &s.Always200, RefuseQueryKeys: &s.RefuseQueryKeys, Quota: &s.Quota,
	}
}

func (l itemLine) item() storedb.Item {
	i := storedb.Item{Kind: l.Kind, Support: l.Support, Item: countersign.Item{
		ID: l.ID, Name: l.Name, Description: l.Description, Category: l.Category, SubCategory: l.SubCategory,
		Options: l.Options, Version: l.Version, DemoLink: l.DemoLink, Tags: l.Tags, Media: l.Media,
		Price: countersign.Price{Regular: l.Price.Regular.Money, Extended: l.Price.Extended.Money}, Currency: l.Currency, PublishedAt: l.PublishedAt,
	}}
	if i.Kind == "" {
		i.Kind = storedb.KindOther
	}
	return i
}

func lineOfItem(i storedb.Item, workspace string) itemLine {
	return itemLine{
		Type: "item", Workspace: workspace, ID: i.ID, Kind: i.Kind, Support: i.Support, Name: i.Name,
		Description: i.Description, Category: i.Category, SubCategory: i.SubCategory, Options: i.Options, Version: i.Version,
		DemoLink: i.DemoLink, Tags: i.Tags, Media: i.Media, Price: priceLine{amount{i.Price.Regular}, amount{i.Price.Extended}},
		Currency: i.Currency, PublishedAt: i.PublishedAt, Licensing: lineOfLicensing(i.Licensing),
	}
}

func (l purchaseLine) purchase() storedb.Purchase {
	p := storedb.Purchase{
		Code: l.PurchaseCode, ItemID: l.ItemID, License: l.LicenseType, Price: l.Price.Money, Currency: l.Currency,
		SupportedUntil: valueOf(l.SupportedUntil), Downloaded: l.Downloaded, SoldAt: l.Date, State: l.State,
		StateAt: valueOf(l.StateAt), BuyerName: l.Buyer.Name, BuyerEmail: l.Buyer.Email,
	}
	if p.State == "" {
		p.State = storedb.StateActive
	}
	return p
}

func lineOfPurchase(p storedb.Purchase, workspace string) purchaseLine {
	return purchaseLine{
		Type: "purchase", Workspace: workspace, ItemID: p.ItemID, PurchaseCode: p.Code, LicenseType: p.License,
		Price: amount{p.Price}, Currency: p.Currency, SupportedUntil: pointerTo(p.SupportedUntil), Downloaded: p.Downloaded,
		Date: p.SoldAt, State: p.State, StateAt: pointerTo(p.StateAt), Buyer: buyerLine{p.BuyerName, p.BuyerEmail},
	}
}

func valueOf(t *countersign.Timestamp) countersign.Timestamp {
	if t == nil {
		return countersign.Timestamp{}
	}
	return *t
}

func pointerTo(t countersign.Timestamp) *countersign.Timestamp {
	if t.IsZero() {
		return nil
	}
	return &t
}

func writeLine(out io.Writer, line any) error {
	text, err := countersign.EncodeJSON(line)
	if err != nil {
		return fmt.Errorf("store: export: %w", err)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
