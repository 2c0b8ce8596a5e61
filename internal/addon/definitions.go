package addon

// Type says what form the value of a setting has, and how JSON prints it.
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
	// TypeServiceAccount is a service-account file: secret, write-only.
	TypeServiceAccount Type = "service_account"
)

// Area says which of the two forms a setting belongs to.
type Area string

// The areas.
const (
	AreaApp Area = "app" // spec 2.5, and the owner's own keys
	AreaIAP Area = "iap" // spec 2.6
)

// The keys of spec 2.5 and 2.6.
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
	KeyIAPEnabled                = "iapEnabled"
	KeyIAPSandboxEnabled         = "iapSandboxEnabled"
	KeyIAPStorePackageName       = "iapStorePackageName"
	KeyIAPStoreServiceAccount    = "iapStoreServiceAccountJson"
	KeyIAPProductMap             = "iapProductMapJson"
)

// Definition describes a setting.
type Definition struct {
	Key   string
	Area  Area
	Group string // the heading it stands under
	Type  Type
	// Public settings are in the answer of app/settings (spec 2.5). The others
	// are for the server; Secret ones are never shown again.
	Public bool
	Secret bool
	Label  string
	Help   string
	// Example is a value as it could be, for people.
	Example string
	// Where tells where to find the value; empty when there is nothing to find.
	Where string
	// Default is the value that the first update registers.
	Default string
	check   func(text string) (value, problem string)
}

// Definitions lists all settings that this build knows, in the order of the
// forms; the owner's own keys are not among them.
func Definitions() []Definition { return nil }
