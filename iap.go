package countersign

// IAPConfig is the view of in-app purchases that an addon shows to apps (spec 2.7).
type IAPConfig struct {
	Enabled        bool         `json:"enabled"`
	SandboxEnabled bool         `json:"sandbox_enabled"`
	Platforms      IAPPlatforms `json:"platforms"`
	// Products is never nil when an addon prints it.
	Products []IAPProduct `json:"products"`
}

// IAPPlatforms holds the platforms on which an app sells.
type IAPPlatforms struct {
	Store IAPPlatform `json:"store"`
}

// IAPPlatform is one platform.
type IAPPlatform struct {
	Enabled bool `json:"enabled"`
	// PackageName is the app's Android application ID, "" when it is not set.
	PackageName string `json:"package_name"`
}

// IAPProduct is a membership package and the store products that give it.
type IAPProduct struct {
	Package         IAPPackage `json:"package"`
	StoreProductIDs []string   `json:"store_product_ids"`
}

// IAPPackage names a membership package.
type IAPPackage struct {
	ID   int64  `json:"package_id"`
	Name string `json:"name"`
}
