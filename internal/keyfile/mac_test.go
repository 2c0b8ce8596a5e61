package keyfile

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestMACIsValidForItsPurposeMessageAndKeyFileAlone(t *testing.T) {
	box, other := newTestBox(t, 1), newTestBox(t, 2)
	mac := box.MAC("head", []byte("message"))
	tests := []struct {
		rule             string
		box              *Box
		purpose, message string
		mac              []byte
		valid            bool
	}{
		{"its own is valid", box, "head", "message", mac[:], true},
		{"another key file's is not", other, "head", "message", mac[:], false},
		{"another purpose's is not", box, "tail", "message", mac[:], false},
		{"another message's is not", box, "head", "massage", mac[:], false},
		{"letters don't move from purpose to message", box, "hea", "dmessage", mac[:], false},
		{"a part of it is not", box, "head", "message", mac[:16], false},
		{"nothing is not", box, "head", "message", nil, false},
	}
	for _, tt := range tests {
		expect.Equalf(t, tt.box.ValidMAC(tt.purpose, []byte(tt.message), tt.mac), tt.valid, "%s", tt.rule)
	}
}
