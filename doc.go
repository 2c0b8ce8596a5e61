// Package countersign is the contract between a store and the programs that ask it whether a purchase code is good:
// one struct per JSON object of the API, its encoding, the errors, and [Client], which calls the four endpoints.
// [AppClient] and [AddonClient] call the addon of a site, and [WebhookVerifier] checks what it sends.
//
// Members are printed in the order in which the specification lists them, which is the order of the struct fields.
package countersign
