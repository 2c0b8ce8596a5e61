package api

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/web"
)

// refusal is the body of an error. Some clients read msg, others message.
type refusal struct {
	Status  string            `json:"status"`
	Msg     string            `json:"msg"`
	Message string            `json:"message"`
	Code    string            `json:"code"`
	Fields  map[string]string `json:"fields,omitempty"`
	Data    any               `json:"data,omitempty"`
}

func errorBody(err *countersign.Error) []byte {
	r := refusal{
		Status: "error", Msg: err.Message, Message: err.Message, Code: err.Code, Fields: err.Fields, Data: err.Data,
	}
	if r.Code == "" {
		r.Code = "invalid"
	}
	body, broken := countersign.EncodeJSON(r)
	if broken != nil { // only the data can be at fault
		r.Data = nil
		body, _ = countersign.EncodeJSON(r)
	}
	return body
}

// quiet gives an error that says "not now" to the operator a fixed sentence for
// strangers; the cause stays for the log. What has to be run first may be known.
func quiet(err error) error {
	var ours *countersign.Error
	if !errors.As(err, &ours) || ours.Kind != countersign.KindUnavailable || ours.Code == "update_needed" {
		return err
	}
	return web.Unavailable(ours, err)
}
