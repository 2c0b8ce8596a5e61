// Package sample has the data of a demo addon: an app's settings, three membership
// packages and their products. Callers load it through the addon's own methods.
package sample

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
)

// OwnKey is a public setting of the demo's owner; Type is text, bool or number.
type OwnKey struct{ Key, Type, Value string }

// Package is a membership package of the demo.
type Package struct {
	ID   int64
	Name string
	Rank int64
	Paid bool
}

// Demo is a demo addon without its service account, which [ServiceAccount] makes.
// It is filled in from top to bottom, with a publish after AppSettings and OwnKeys
// and one at the end.
type Demo struct {
	AppSettings map[string]string
	OwnKeys     []OwnKey
	AppNote     string
	Packages    []Package
	// Products by store id give packages by id.
	Products    map[string]int64
	IAPSettings map[string]string
	IAPNote     string
	// Members buy one after the other in the simulated store, once the settings are published.
	Members []Member
	Grant   Grant
	// Webhooks are the addresses of the demo's site that receive events.
	Webhooks []Webhook
	// AdminEmail is the demo's administrator.
	AdminEmail string
}

// Member is a user of the demo's site who buys a product. Acts are what happens to the purchase then, as the simulated
// store names it.
type Member struct {
	User, Product string
	Acts          []string
}

// Grant is a membership that the demo's administrator granted.
type Grant struct {
	User    string
	Package int64
	Reason  string
}

// Webhook is a path of the demo's site with the types of events that it receives, nil for all. One that is Down answers
// with an error.
type Webhook struct {
	Path  string
	Types []string
	Down  bool
}

// NewDemo returns the demo. Its in-app purchases are in test mode.
func NewDemo() Demo {
	return Demo{
		AppSettings: map[string]string{
			"appName":                   "Tuneful",
			"idpIosClientId":            "1234567890-tuneful-ios.apps.idp.example",
			"idpAndroidClientId":        "1234567890-tuneful-android.apps.idp.example",
			"pushEnabled":               "true",
			"pushAppId":                 "b2f7f966-d8cc-11e4-bed1-df8f05be55ba",
			"pushTimelineAppId":         "5eb5a37e-b458-11e3-ac11-000c2940e62c",
			"streamAppId":               "970ca35de60c44645bbae8a215061b33",
			"messengerUrlScheme":        "tunefulchat",
			"messengerAndroidPackageId": "example.tuneful.chat",
			"messengerDomain":           "chat.tuneful.example",
		},
		OwnKeys: []OwnKey{
			{"supportUrl", "text", "https://help.tuneful.example/"},
			{"darkModeByDefault", "bool", "false"},
			{"maxUploadMegabytes", "number", "25"},
		},
		AppNote: "The app's settings",
		Packages: []Package{
			{1, "Free", 0, false},
			{2, "Plus", 10, true},
			{3, "Gold", 20, true},
		},
		Products:    map[string]int64{"plus_monthly": 2, "gold_monthly": 3},
		IAPSettings: map[string]string{"iapEnabled": "1", "iapSandboxEnabled": "1", "iapStorePackageName": "example.tuneful.app"},
		IAPNote:     "Sell Plus and Gold, in test mode",
		Members:     members(),
		Grant:       Grant{"1180", 2, "Prize of the summer contest"},
		Webhooks:    []Webhook{{Path: "/community/events"}, {Path: "/accounting/refunds", Types: []string{"purchase.refunded"}, Down: true}},
		AdminEmail:  "demo@tuneful.example",
	}
}

// members are in most of the states that there are. The act wait moves the clock of the simulated store, here by a month
// in which the purchases before it are renewed, expire or pause.
func members() []Member {
	return []Member{
		{"1042", "gold_monthly", nil}, {"1057", "plus_monthly", nil}, {"1063", "plus_monthly", []string{"refund"}},
		{"1088", "plus_monthly", []string{"cancel"}}, {"1104", "plus_monthly", []string{"pause"}}, {"1121", "plus_monthly", nil},
		{"1127", "gold_monthly", []string{"decline", "wait", "wait"}}, {"1130", "gold_monthly", nil}, {"1146", "plus_monthly", []string{"cancel"}},
		{"1159", "gold_monthly", nil}, {"1172", "plus_monthly", nil},
	}
}

// ServiceAccount creates a file of the right form with a key that nobody knows and
// that opens nothing.
func ServiceAccount() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	body, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return json.Marshal(map[string]string{
		"type": "service_account", "project_id": "tuneful-demo", "client_email": "demo@tuneful-demo.iam.example",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: body})), "token_uri": "https://oauth2.googleapis.com/token",
	})
}
