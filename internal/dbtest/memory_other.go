//go:build !linux

package dbtest

func memory() string { return "" }
