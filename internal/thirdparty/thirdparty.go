// Package thirdparty holds the licenses of the software and the files that the binary
// contains and that others wrote.
package thirdparty

import (
	_ "embed"
	"strings"
)

//go:generate go run generate.go

//go:embed modules.txt
var modules string

// assets is written by npm run vendor, beside the files that the pages use.
//
//go:embed assets.txt
var assets string

// Licenses returns the texts of all licenses, each under the names of what it covers.
func Licenses() string {
	return strings.Join([]string{
		"Countersign is licensed under the Apache License, Version 2.0. It contains the following parts, under licenses of their own.",
		strings.TrimSpace(modules), strings.TrimSpace(assets),
	}, "\n\n===============================================================================\n\n") + "\n"
}
