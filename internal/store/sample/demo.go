package sample

// Demo is what somebody needs to know to try the shop of Lines with Options.Keys.
type Demo struct {
	Workspace    string // whose purchases and key these are
	APIKey       string // secret key of Workspace
	PurchaseCode string // of a theme; active, downloaded, with support beyond End
	RefundedCode string // refunded shortly before End
	EmptyAPIKey  string // secret key of a workspace without items
	AdminEmail   string // of the demo's administrator
}

// NewDemo finds the values in the shop: the newest purchases that fit.
func NewDemo() Demo {
	d := Demo{
		Workspace:   demoWorkspace,
		APIKey:      SecretKey(demoWorkspace),
		EmptyAPIKey: SecretKey(emptyWorkspace),
		AdminEmail:  "demo@shop.example",
	}
	for _, p := range purchases() {
		switch {
		case p.Workspace != demoWorkspace:
		case p.State == "refunded":
			d.RefundedCode = p.Code
		case p.State == "active" && p.Downloaded && p.item.Category == "Themes" && p.item.Support && p.SupportedUntil.After(End()):
			d.PurchaseCode = p.Code
		}
	}
	return d
}
