package fault_test

import (
	"io"
	"maps"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
)

func TestAllIsOneErrorAboutAllValues(t *testing.T) {
	email, password := fault.At("email", fault.Invalid("email_invalid", "Invalid e-mail")), fault.At("password", fault.Unauthorized("password_wrong", "Wrong password"))
	if err := fault.All(nil, nil); err != nil {
		t.Errorf("nothing wrong is %v", err)
	}
	err := fault.Of(fault.All(nil, email, password))
	want := map[string]string{"email": "Invalid e-mail", "password": "Wrong password"}
	if err.Code != "email_invalid" || err.Message != "Invalid e-mail; Wrong password" || !maps.Equal(err.Fields, want) {
		t.Errorf("%+v", err)
	}
	again := fault.At("email", fault.Invalid("email_taken", "Another text"))
	if err := fault.Of(fault.All(email, again)); err.Fields["email"] != "Invalid e-mail" {
		t.Errorf("the first text of a value is not kept: %v", err.Fields)
	}
	for name, alone := range map[string]error{
		"a fault of ours": io.EOF, "waiting": fault.At("password", fault.Limited("rate_limited", "Too many", time.Second)),
		"the server": fault.At("password", fault.Unavailable("busy", "Not now")),
	} {
		expect.Equalf(t, fault.All(email, alone), alone, "%s is not alone", name)
	}
}
