// Package conformance holds no code of the addon. Its tests put the rules of in-app purchases to the
// addon's API, over HTTP, on both database engines and with both simulations of Google Play, and
// write the results to docs/iap-conformance.md.
package conformance
