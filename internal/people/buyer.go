package people

import "net/netip"

// KindBuyer is somebody who holds a purchase code, which is the credential.
const KindBuyer Kind = "buyer"

// Buyer is the actor behind a purchase code that came from an address.
func Buyer(face Face, from netip.Addr) Actor { return Actor{Kind: KindBuyer, Face: face, Addr: from} }
