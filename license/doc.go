// Package license signs license files and opens them (spec 5.7).
//
// A license file is a compact JWS (RFC 7515) under Ed25519: a store signs it with [Sign] for a purchase and the domain
// of a site, and the mobile client opens it with [Open] when it starts. The client needs nothing but the store's public
// keys, a [KeySet] that was built into it, so it starts without a network.
//
// Nothing is parsed before it is verified. A signature covers the header and the payload as text; both are read only
// after one of the keys has verified that text, so no header can choose a key, an algorithm, or no algorithm at all.
// What is refused is refused with an error value of its own, a [Refusal].
package license
