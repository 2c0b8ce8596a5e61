package limit

import (
	"net/netip"
	"testing"
	"time"
)

func BenchmarkLimiter(b *testing.B) {
	addr, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	b.Run("nobody has failed", func(b *testing.B) {
		l := NewLimiter(600, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			l.Allowed(addr)
		}
	})
	b.Run("somebody has failed", func(b *testing.B) {
		l := NewLimiter(600, time.Now)
		l.Fail(other)
		b.ReportAllocs()
		for b.Loop() {
			l.Allowed(addr)
		}
	})
	b.Run("failing", func(b *testing.B) {
		l := NewLimiter(600, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			l.Fail(addr)
		}
	})
	b.Run("full", func(b *testing.B) {
		l := NewLimiter(600, time.Now)
		b.ReportAllocs()
		n := uint32(0)
		for b.Loop() {
			n++
			l.Fail(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}))
		}
	})
}
