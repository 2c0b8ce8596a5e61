package iap

import (
	"context"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/people"
)

// The keys of spec 2.6.
const (
	KeyEnabled        = "iapEnabled"
	KeySandboxEnabled = "iapSandboxEnabled"
	KeyPackageName    = "iapStorePackageName"
	KeyServiceAccount = "iapStoreServiceAccountJson"
	KeyProductMap     = "iapProductMapJson"
)

// The keys that the specification leaves open: notifications of the store, test purchases,
// to whom a purchase belongs, and products that are bought once.
const (
	KeyPushAudience       = "iapPushAudience"
	KeyPushServiceAccount = "iapPushServiceAccount"
	KeyPullSubscription   = "iapPullSubscription"
	KeyTestPurchases      = "iapTestPurchases"
	KeyTestUsers          = "iapTestUsers"
	KeyClaimPolicy        = "iapClaimPolicy"
	KeyTransferPolicy     = "iapTransferPolicy"
	KeyUnknownPolicy      = "iapUnknownAccountPolicy"
	KeyLeewayHours        = "iapLeewayHours"
	KeyOneTime            = "iapOneTimeProducts"
)

// Values is the settings of in-app purchases: of the draft, or of a version.
type Values struct {
	Enabled, Sandbox bool
	// PackageName is the Android application ID.
	PackageName string
	// Account is the id of the service account's row as text, "" for none.
	Account string
	// Products is the product map by store id, and OneTime the days of products that are bought once, which may not be in it.
	Products []Product
	OneTime  map[string]int64
	// PushAudience and PushServiceAccount are what a notification of the store must name: the
	// audience of its token, and the e-mail address that sends it. "" until they are set.
	PushAudience, PushServiceAccount string
	// PullSubscription is the subscription from which notifications are pulled, "" for none.
	PullSubscription string
	TestPurchases    entitle.TestPurchases
	// Policy decides on purchases that name no user of the site.
	Policy entitle.Policy
	// Leeway is how long access continues after the paid time while the store can't be asked.
	Leeway time.Duration
}

// ValuesOf reads the settings of in-app purchases from rows, which were checked when
// they were written.
func ValuesOf(rows []addondb.Setting) Values {
	v := Values{
		TestPurchases: entitle.TestPurchases{Rule: entitle.AllowTests},
		Policy:        entitle.Policy{Unbound: entitle.FirstClaim, Owned: entitle.Keep, Unknown: entitle.AskSite},
		Leeway:        entitle.Leeway,
	}
	for _, row := range rows {
		if row.Value == "" { // as it is without the row
			continue
		}
		switch row.Name {
		case KeyEnabled:
			v.Enabled = row.Value == "1"
		case KeySandboxEnabled:
			v.Sandbox = row.Value == "1"
		case KeyPackageName:
			v.PackageName = row.Value
		case KeyServiceAccount:
			v.Account = row.Value
		case KeyProductMap:
			v.Products, _ = ParseProducts(row.Value)
		case KeyOneTime:
			v.OneTime, _ = ParseOneTime(row.Value)
		case KeyPushAudience:
			v.PushAudience = row.Value
		case KeyPushServiceAccount:
			v.PushServiceAccount = row.Value
		case KeyPullSubscription:
			v.PullSubscription = row.Value
		case KeyTestPurchases:
			v.TestPurchases.Rule = entitle.TestRule(row.Value)
		case KeyTestUsers:
			v.TestPurchases.Users = ParseUsers(row.Value)
		case KeyClaimPolicy:
			v.Policy.Unbound = entitle.UnboundPolicy(row.Value)
		case KeyTransferPolicy:
			v.Policy.Owned = entitle.OwnedPolicy(row.Value)
		case KeyUnknownPolicy:
			v.Policy.Unknown = entitle.UnknownPolicy(row.Value)
		case KeyLeewayHours:
			if hours, err := strconv.Atoi(row.Value); err == nil {
				v.Leeway = time.Duration(hours) * time.Hour
			}
		}
	}
	for i := range v.Products {
		p := &v.Products[i]
		p.Days, p.OneTime = v.OneTime[p.StoreID]
	}
	return v
}

// Products lists the draft's product map by store id.
func (s *Service) Products(ctx context.Context, actor people.Actor) ([]Product, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	rows, err := s.db.Settings(ctx)
	return ValuesOf(rows).Products, err
}
