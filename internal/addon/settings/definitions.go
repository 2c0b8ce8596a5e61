package settings

import (
	"slices"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
)

// Type describes what form the value of a setting has, and how JSON prints it.
type Type string

// The types of settings.
const (
	// TypeText is a string.
	TypeText Type = "text"
	// TypeBool is "true" or "false", in JSON a boolean.
	TypeBool Type = "bool"
	// TypeFlag is "1" or "0" (spec 2.6), in JSON a string.
	TypeFlag Type = "flag"
	// TypeNumber is a number; only owners' own keys have it.
	TypeNumber Type = "number"
	// TypeProducts is the product map, a JSON object.
	TypeProducts Type = "products"
	// TypeChoice is one of the definition's choices, in JSON a string.
	TypeChoice Type = "choice"
	// TypeServiceAccount is a service-account file: secret, write-only.
	TypeServiceAccount Type = "service_account"
)

// Area is the form that a setting belongs to.
type Area string

// The areas.
const (
	AreaApp Area = "app" // spec 2.5, and the owner's own keys
	AreaIAP Area = "iap" // spec 2.6
)

// The keys of spec 2.5. Those of spec 2.6 are in package iap.
const (
	KeyAppName                   = "appName"
	KeyIDPIOSClientID            = "idpIosClientId"
	KeyIDPAndroidClientID        = "idpAndroidClientId"
	KeyPushEnabled               = "pushEnabled"
	KeyPushAppID                 = "pushAppId"
	KeyPushTimelineAppID         = "pushTimelineAppId"
	KeyStreamAppID               = "streamAppId"
	KeyMessengerURLScheme        = "messengerUrlScheme"
	KeyMessengerAndroidPackageID = "messengerAndroidPackageId"
	KeyMessengerDomain           = "messengerDomain"
)

// Definition describes a setting.
type Definition struct {
	Key     string `json:"key"`
	Area    Area   `json:"area"`
	Group   string `json:"group"` // the heading it stands under
	Type    Type   `json:"type"`
	Label   string `json:"label"`
	Help    string `json:"help"`
	Example string `json:"example"` // a value as it could be, for people
	// Choices are the values of a [TypeChoice]. The first one is the default.
	Choices []Choice `json:"choices,omitempty"`
	// Where describes where to find the value; empty when there is nothing to find.
	Where string `json:"where"`
	// Public settings are in the response of app/settings (spec 2.5). The others
	// are for the server; Secret ones are never shown again.
	Public bool `json:"public"`
	Secret bool `json:"secret"`
	// Default is the value that the first update registers.
	Default string `json:"-"`
	// check brings a value into the form in which it is stored, or says in a
	// sentence what is wrong with it.
	check func(text string) (value, problem string)
}

// Choice is one of the values of a setting.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"` // for people
}

// definitions is the table of settings.
var definitions = slices.Concat(appDefinitions(), iapDefinitions(), verificationDefinitions())

// Definitions lists all settings that this build knows, in the order of the
// forms; the owner's own keys are not among them.
func Definitions() []Definition { return slices.Clone(definitions) }

// definition finds one by its key.
func definition(key string) (Definition, bool) {
	i := slices.IndexFunc(definitions, func(d Definition) bool { return d.Key == key })
	if i < 0 {
		return Definition{}, false
	}
	return definitions[i], true
}

// appDefinitions are the keys of spec 2.5.
func appDefinitions() []Definition {
	app := func(group string, d Definition) Definition {
		d.Area, d.Group, d.Public = AreaApp, group, true
		if d.Type == "" {
			d.Type = TypeText
		}
		return d
	}
	return []Definition{
		app("Name", Definition{Key: KeyAppName, Label: "App name", Default: "My app", Example: "Tuneful", check: checkName,
			Help: "The name that people see in the app."}),
		app("Sign-in", Definition{Key: KeyIDPIOSClientID, Label: "Client ID for iOS", Example: "1234567890-abcdef.apps.idp.example", check: checkClientID,
			Help: "For sign-in with the identity provider on iPhones. Leave it empty if this sign-in is not used.", Where: "In the identity provider's console, under credentials, the client of the type iOS."}),
		app("Sign-in", Definition{Key: KeyIDPAndroidClientID, Label: "Client ID for Android", Example: "1234567890-ghijkl.apps.idp.example", check: checkClientID,
			Help: "For sign-in with the identity provider on Android. Leave it empty if this sign-in is not used.", Where: "In the identity provider's console, under credentials, the client of the type web application: Android needs the server's client."}),
		app("Push notifications", Definition{Key: KeyPushEnabled, Label: "Send push notifications", Type: TypeBool, Default: "false", Example: "true", check: checkBool,
			Help: "Whether the app starts the push provider. Leave it off if push is not used."}),
		app("Push notifications", Definition{Key: KeyPushAppID, Label: "Push app ID", Example: "b2f7f966-d8cc-11e4-bed1-df8f05be55ba", check: checkProviderID,
			Help: "Needed while push notifications are on.", Where: "In the push provider's dashboard, under settings, keys and IDs."}),
		app("Push notifications", Definition{Key: KeyPushTimelineAppID, Label: "Push app ID of the timeline", Example: "5eb5a37e-b458-11e3-ac11-000c2940e62c", check: checkProviderID,
			Help: "The second app at the push provider, for the timeline.", Where: "In the push provider's dashboard, in the timeline's app, under settings, keys and IDs."}),
		app("Live streaming", Definition{Key: KeyStreamAppID, Label: "Streaming app ID", Example: "970ca35de60c44645bbae8a215061b33", check: checkProviderID,
			Help: "For live streaming. Leave it empty if it is not used.", Where: "In the streaming provider's console, in the project."}),
		app("Messenger", Definition{Key: KeyMessengerURLScheme, Label: "URL scheme", Example: "tunefulchat", check: checkScheme,
			Help: "Opens the messenger app from the main app. The part of the URL before ://.", Where: "In the messenger app's project."}),
		app("Messenger", Definition{Key: KeyMessengerAndroidPackageID, Label: "Android package ID", Example: "com.example.chat", check: checkPackageName,
			Help: "Opens the messenger's page in the app store if it is not installed.", Where: "In the address of the messenger's page in the app store, after id=."}),
		app("Messenger", Definition{Key: KeyMessengerDomain, Label: "Domain", Example: "chat.example.com", check: checkDomain,
			Help: "The domain of deep links into the messenger, without https://."}),
	}
}

// purchase is a definition of the form of in-app purchases.
func purchase(group string, d Definition) Definition {
	d.Area, d.Group = AreaIAP, group
	if d.Type == TypeChoice {
		d.Default, d.check = d.Choices[0].Value, checkChoice(d.Choices)
	}
	return d
}

// iapDefinitions are the keys of spec 2.6.
func iapDefinitions() []Definition {
	return []Definition{
		purchase("In-app purchases", Definition{Key: iap.KeyEnabled, Label: "Sell in the app", Type: TypeFlag, Default: "0", Example: "1", check: checkFlag,
			Help: "Turn on after billing is set up in the store's console."}),
		purchase("In-app purchases", Definition{Key: iap.KeySandboxEnabled, Label: "Test mode", Type: TypeFlag, Default: "0", Example: "0", check: checkFlag,
			Help: "Marks the configuration that apps receive as test mode (sandbox_enabled). While it is on, a simulated store answers, and new purchases in the real store are not verified."}),
		purchase("In-app purchases", Definition{Key: iap.KeyPackageName, Label: "Android application ID", Type: TypeText, Example: "com.example.app", check: checkPackageName,
			Help: "The application ID under which the app is sold.", Where: "In the store's console, under the app's name."}),
		purchase("In-app purchases", Definition{Key: iap.KeyServiceAccount, Label: "Service account", Type: TypeServiceAccount, Secret: true,
			Help:  "The whole JSON file of the store's service account. It stays on this server, encrypted, and is never shown again.",
			Where: "In the cloud console of the store, under IAM, service accounts, keys: a key of the type JSON."}),
		purchase("Products", Definition{Key: iap.KeyProductMap, Label: "Product map", Type: TypeProducts, Default: iap.NoProducts, Example: `{"store":{"gold_monthly":1}}`, check: iap.CheckProducts,
			Help: "Which store product activates which membership package."}),
	}
}

// verificationDefinitions are the keys for one-time products and for verifying purchases, which
// the specification leaves open.
func verificationDefinitions() []Definition {
	return []Definition{
		purchase("Products", Definition{Key: iap.KeyOneTime, Label: "One-time products", Type: TypeText, Example: "gold_forever=lifetime, gold_pass=30", check: iap.CheckOneTime,
			Help: "Products of the map that are bought once, and what each grants: lifetime, or a number of days. All others are subscriptions."}),
		purchase("Store notifications", Definition{Key: iap.KeyPushServiceAccount, Label: "Service account of the push subscription", Type: TypeText, Example: "push@project.iam.gserviceaccount.com", check: iap.CheckPushAccount,
			Help:  "Notifications signed by any other account are refused. While it is empty, all are refused.",
			Where: "In the cloud console, under Pub/Sub, in the push subscription: the service account for authentication."}),
		purchase("Store notifications", Definition{Key: iap.KeyPushAudience, Label: "Audience of the push subscription", Type: TypeText, Example: "https://site.example/api-addons/iap/notifications/store", check: iap.CheckAudience,
			Help:  "Notifications for any other audience are refused. Without an audience of its own, a subscription uses the address that it sends to.",
			Where: "In the cloud console, under Pub/Sub, in the push subscription: the audience."}),
		purchase("Store notifications", Definition{Key: iap.KeyPullSubscription, Label: "Pull subscription", Type: TypeText, Example: "projects/my-project/subscriptions/play-notifications", check: iap.CheckSubscription,
			Help:  "For a server that Google can't reach: the addon pulls notifications itself, with the service account of the app.",
			Where: "In the cloud console, under Pub/Sub, subscriptions: the name of a subscription with the delivery type pull."}),
		purchase("Test purchases", Definition{Key: iap.KeyTestPurchases, Label: "Test purchases", Type: TypeChoice, Example: string(entitle.AllowListTests),
			Choices: []Choice{{string(entitle.AllowTests), "Activate the membership"}, {string(entitle.AllowListTests), "Activate it for the test users only"}, {string(entitle.DenyTests), "Refuse them"}},
			Help:    "What a purchase by a license tester of the store does. License testers are not charged."}),
		purchase("Test purchases", Definition{Key: iap.KeyTestUsers, Label: "Test users", Type: TypeText, Example: "7, 12", check: iap.CheckTestUsers,
			Help: "User ids of the site, with commas between them. They matter only if test purchases are for the test users only."}),
		purchase("Owners of purchases", Definition{Key: iap.KeyClaimPolicy, Label: "A purchase that names no user", Type: TypeChoice, Example: string(entitle.Strict),
			Choices: []Choice{{string(entitle.FirstClaim), "Belongs to the first user who brings it"}, {string(entitle.Strict), "Is refused"}},
			Help:    "A purchase names its user if the app got the account id from the addon first."}),
		purchase("Owners of purchases", Definition{Key: iap.KeyTransferPolicy, Label: "The same purchase, brought by another user", Type: TypeChoice, Example: string(entitle.TransferIfInactive),
			Choices: []Choice{{string(entitle.Keep), "Stays with its owner"}, {string(entitle.TransferIfInactive), "Moves if its owner has no membership from it"}, {string(entitle.Transfer), "Moves to that user"}},
			Help:    "Only for purchases that name no user. A purchase that names its user never moves by itself."}),
		purchase("Owners of purchases", Definition{Key: iap.KeyUnknownPolicy, Label: "A purchase with another system's account id", Type: TypeChoice, Example: string(entitle.FirstVerified),
			Choices: []Choice{{string(entitle.AskSite), "Waits until the site or an administrator decides"}, {string(entitle.RefuseUnknown), "Is refused"}, {string(entitle.FirstVerified), "Belongs to the first user who brings it"}},
			Help:    "For an app whose subscriptions another system has sold. While a purchase waits, its user has no membership from it, and the site gets the event purchase.owner_unknown."}),
		purchase("Outages of the store", Definition{Key: iap.KeyLeewayHours, Label: "Hours of access while the store can't be asked", Type: TypeText, Default: "6", Example: "12", check: iap.CheckLeeway,
			Help: "When the paid time has passed and the store does not answer, the membership continues for so many hours: 0 to 24. Empty is 6."}),
	}
}
