//go:build !linux

package web

import "net"

// refuseHandshakes does nothing where the kernel can't be told; connections of the last moment are reset.
func refuseHandshakes(net.Listener) {}
