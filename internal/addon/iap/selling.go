package iap

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
)

// Selling is what the published settings say of purchases, for the server alone. It is
// immutable.
type Selling struct {
	Enabled bool
	// Simulated reports that the built-in store answers instead of the real one.
	Simulated bool
	// Application is the Android application ID.
	Application string
	// ServiceAccount is the service-account file, nil when none can be used.
	ServiceAccount []byte
	// Packages is the membership packages by the ids of the products that activate them.
	Packages map[string]int64
	// OneTime is the days of those products that are bought once, [entitle.Lifetime] for ever.
	OneTime       map[string]int64
	TestPurchases entitle.TestPurchases
	Policy        entitle.Policy
	// Leeway is how long access continues after the paid time while the store can't be asked.
	Leeway time.Duration
	// PushAudience and PushServiceAccount are what a notification of the store must name, "" while they are not set.
	PushAudience, PushServiceAccount string
	// PullSubscription is the subscription from which notifications are pulled, "" for none.
	PullSubscription string
}

// Pulls reports whether notifications of the store are pulled.
func (s Selling) Pulls() bool {
	return s.PullSubscription != "" && s.Application != "" && s.ServiceAccount != nil && !s.Simulated
}

// String keeps the service account out of texts and logs.
func (s Selling) String() string { return "(selling " + s.Application + ")" }

// Selling returns the published settings of purchases, from the cache when it can. Its
// error is that of [Service.Published].
func (s *Service) Selling(ctx context.Context) (Selling, error) {
	p, err := s.Published(ctx)
	if err != nil {
		return Selling{}, err
	}
	return p.selling, nil
}

// simulatedApplication stands for the Android application ID in test mode while none is set.
const simulatedApplication = "com.example.app"

// sellingOf leaves out products of packages that do not exist.
func (s *Service) sellingOf(v Values, packages []Package, all Accounts) Selling {
	selling := Selling{
		Enabled: v.Enabled, Simulated: v.Sandbox, Application: v.PackageName, Packages: map[string]int64{}, OneTime: map[string]int64{},
		TestPurchases: v.TestPurchases, Policy: v.Policy, Leeway: v.Leeway, PushAudience: v.PushAudience, PushServiceAccount: v.PushServiceAccount,
		PullSubscription: v.PullSubscription,
	}
	if selling.Simulated {
		selling.Application = cmp.Or(selling.Application, simulatedApplication)
	}
	for _, p := range v.Products {
		if slices.ContainsFunc(packages, func(k addondb.Package) bool { return k.ID == p.PackageID }) {
			selling.Packages[p.StoreID] = p.PackageID
			if p.OneTime {
				selling.OneTime[p.StoreID] = p.Days
			}
		}
	}
	if file, ok := openAccount(s.access.Box(), all[v.Account]); ok && inspect(file).ok() {
		selling.ServiceAccount = file
	}
	return selling
}
