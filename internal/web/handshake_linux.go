package web

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// refuseHandshakes makes the kernel drop the first packet of each new connection, so that the listener can be closed
// while none is being opened. Clients repeat the packet after a second and are then refused, or reach the next server.
// Closing the listener would reset a connection that is already open, with its request.
func refuseHandshakes(ln net.Listener) {
	socket, ok := ln.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	// The flags are the byte 13 of a TCP header; 2 is SYN.
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: 2},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	_ = raw.Control(func(fd uintptr) { // where it fails, connections of the last moment are reset
		_ = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
}
