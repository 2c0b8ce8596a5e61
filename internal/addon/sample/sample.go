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
	// AdminEmail is the demo's administrator.
	AdminEmail string
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
		AdminEmail:  "demo@tuneful.example",
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
