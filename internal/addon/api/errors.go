package api

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
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

// nextSteps says what to do about errors, by their codes.
var nextSteps = fault.NextSteps{
	fault.CodeUpdateNeeded: "run: countersign addon update",
	"credential_inactive":  "switch them on under /admincp/apis",
	"not_allowed":          "links and tokens are made at the command line",
}

func errorBody(err *countersign.Error) []byte {
	err = fault.Of(nextSteps.Add(err))
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
