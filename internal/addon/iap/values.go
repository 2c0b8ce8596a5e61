package iap

import (
	"context"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
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

// Values is the settings of in-app purchases: of the draft, or of a version.
type Values struct {
	Enabled, Sandbox bool
	// PackageName is the Android application ID.
	PackageName string
	// Account is the id of the service account's row as text, "" for none.
	Account string
	// Products is the product map by store id.
	Products []Product
}

// ValuesOf reads the settings of in-app purchases from rows, which were checked when
// they were written.
func ValuesOf(rows []addondb.Setting) Values {
	var v Values
	for _, row := range rows {
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
		}
	}
	return v
}

// Products lists the draft's product map by store id.
func (s *Service) Products(ctx context.Context, actor people.Actor) ([]Product, error) {
	if err := s.guard.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	rows, err := s.db.Settings(ctx)
	return ValuesOf(rows).Products, err
}
