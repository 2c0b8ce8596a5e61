package countersign

// IAPConfig is the view of in-app purchases that an addon shows to apps (spec 2.7).
type IAPConfig struct {
	Enabled        bool         `json:"enabled"`
	SandboxEnabled bool         `json:"sandbox_enabled"`
	Platforms      IAPPlatforms `json:"platforms"`
	// Products is never nil when an addon prints it.
	Products []IAPProduct `json:"products"`
	// OneTimeProducts are the products that are bought once, which are not among Products. It is left out without any.
	OneTimeProducts []IAPOneTimeProduct `json:"one_time_products,omitempty"`
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

// IAPOneTimeProduct is a store product that is bought once, and the membership package that it activates.
type IAPOneTimeProduct struct {
	Package        IAPPackage `json:"package"`
	StoreProductID string     `json:"store_product_id"`
	// Days is for how many days it activates the package, nil for ever.
	Days *int64 `json:"days"`
}

// IAPProduct is a membership package and the subscriptions of the store that activate it.
type IAPProduct struct {
	Package         IAPPackage `json:"package"`
	StoreProductIDs []string   `json:"store_product_ids"`
}

// IAPPackage names a membership package.
type IAPPackage struct {
	ID   int64  `json:"package_id"`
	Name string `json:"name"`
}
