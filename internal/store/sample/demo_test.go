package sample

import (
	"testing"
)

func TestDemoValuesAreInTheShop(t *testing.T) {
	s, d := readShop(t, Reader(Options{Keys: true})), NewDemo()
	if k := s.keys[d.APIKey]; k.Workspace != d.Workspace || k.Class != "" {
		t.Errorf("the key is %+v, want a secret one of %s", k, d.Workspace)
	}
	good, refunded := s.purchase(t, d.PurchaseCode), s.purchase(t, d.RefundedCode)
	if good.State != "active" || good.Workspace != d.Workspace || !good.Downloaded {
		t.Errorf("the good code is %+v", good)
	}
	if !s.items[good.ItemID].Support || !parseTime(good.SupportedUntil).After(End()) {
		t.Errorf("the good code's support ends %q, item %+v", good.SupportedUntil, s.items[good.ItemID])
	}
	if refunded.State != "refunded" || refunded.Workspace != d.Workspace {
		t.Errorf("the refunded code is %+v", refunded)
	}
}

func TestTheEmptyWorkspaceHasAKeyAndNoItems(t *testing.T) {
	s, d := readShop(t, Reader(Options{Keys: true})), NewDemo()
	empty := s.keys[d.EmptyAPIKey].Workspace
	if empty == "" || empty == d.Workspace {
		t.Fatalf("the empty workspace is %q", empty)
	}
	for id, it := range s.items {
		if it.Workspace == empty {
			t.Errorf("item %d belongs to it", id)
		}
	}
}

func TestThePublishableKeyIsBoundToAnItemOfItsWorkspace(t *testing.T) {
	s := readShop(t, Reader(Options{Keys: true}))
	k := s.keys[PublishableKey(demoWorkspace)]
	if it := s.items[k.ItemID]; k.Workspace != demoWorkspace || it.Workspace != demoWorkspace {
		t.Errorf("key %+v, item %+v", k, it)
	}
}

func (s shopLines) purchase(t *testing.T, code string) purchaseLine {
	t.Helper()
	for _, p := range s.purchases {
		if p.PurchaseCode == code {
			return p
		}
	}
	t.Fatalf("no purchase has the code %q", code)
	return purchaseLine{}
}
