// Package api is the JSON face of the addon: the public settings and the view of
// in-app purchases that apps read (spec 4.5), the settings and the update as JSON
// for programs, the OpenAPI document of these, and health.
//
// The public routes know no caller: nothing that a request says about who sent it
// is looked at. The others have a page at the same address, which a request gets
// that asks for one.
package api
