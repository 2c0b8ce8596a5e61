//go:build !linux

// Command chaos needs Linux: it stops and continues processes that it finds in /proc.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: it runs on Linux only")
	os.Exit(1)
}
