// Package api is the JSON face of the store: the four endpoints of spec 4.1 to
// 4.4, the pictures and the OpenAPI document that belong to them, and health.
package api
