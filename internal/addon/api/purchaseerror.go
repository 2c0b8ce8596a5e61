package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// pathIAP is the view of in-app purchases (spec 2.7), whose errors are those of the other
// public answers.
const pathIAP = "/api-addons/iap/config"

// isForPurchases reports whether a path is one of those for purchases and user tokens: no
// page is there, and errors have a form of their own.
func isForPurchases(path string) bool {
	folder, ok := strings.CutPrefix(path, "/api-addons/")
	folder, _, _ = strings.Cut(folder, "/")
	return ok && (folder == "iap" || folder == "auth")
}

// The codes of these paths. An app decides by them what to do.
const (
	codeUnauthorized   = "unauthorized"
	codeInvalidRequest = "invalid_request"
	codeTooLarge       = "too_large"
	codeNotConfigured  = "not_configured"
)

// purchaseCodes are the codes of errors that are called otherwise elsewhere.
var purchaseCodes = map[string]string{
	countersign.CodeBadBody:       codeInvalidRequest,
	countersign.CodeBadQuery:      codeInvalidRequest,
	countersign.CodeParamConflict: codeInvalidRequest,
	countersign.CodeBodyTooLarge:  codeTooLarge,
	fault.CodeInvalid:             codeInvalidRequest,
	"user_id_invalid":             codeInvalidRequest,
}

// withPurchaseCodes brings the errors of a handler to the codes of these paths. Why
// credentials were refused is a detail, for the people who write a client.
func withPurchaseCodes(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := h(w, r)
		apiErr := fault.Of(err)
		switch {
		case apiErr == nil:
		case apiErr.Kind == countersign.KindUnauthorized && apiErr.Code != credential.CodeUserTokenExpired:
			refused := fault.Of(nextSteps.Add(apiErr)) // which goes by the reason
			return withCode(fault.WithData(refused, map[string]string{"reason": apiErr.Code}), codeUnauthorized)
		case apiErr.Code == "credential_not_kept": // the caller can't help it: the operator has to rotate them
			return fault.WithCause(fault.Unavailable(codeNotConfigured, apiErr.Message), apiErr)
		case purchaseCodes[apiErr.Code] != "":
			return withCode(apiErr, purchaseCodes[apiErr.Code])
		}
		return err
	}
}

// storeCodes are the codes of outages that apps and sites are told. They name no part of the
// installation.
var storeCodes = []string{"store_unavailable", "store_not_authorised", "not_configured"}

// publicPurchase is [fault.Public] for errors of purchases: an outage of the store keeps its code.
func publicPurchase(err error) error {
	if apiErr := fault.Of(err); apiErr != nil && slices.Contains(storeCodes, apiErr.Code) {
		return err
	}
	return fault.Public(err)
}

// withCode returns an error with another code.
func withCode(err *countersign.Error, code string) *countersign.Error {
	with := *err
	with.Code = code
	return &with
}

// purchaseErrorBody is an error of these paths.
func purchaseErrorBody(err *countersign.Error) []byte {
	body := struct {
		Status    string `json:"status"`
		Msg       string `json:"msg"`
		Message   string `json:"message"`
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
		RequestID string `json:"request_id"`
		Details   any    `json:"details"`
	}{"error", err.Message, err.Message, cmp.Or(err.Code, codeInvalidRequest), isRetryable(err.Kind), err.RequestID, detailsOf(err)}
	b, broken := countersign.EncodeJSON(body)
	if broken != nil { // only the details can be at fault
		body.Details = struct{}{}
		b, _ = countersign.EncodeJSON(body)
	}
	return b
}

// isRetryable reports whether the same request may succeed later.
func isRetryable(kind countersign.Kind) bool {
	return kind == countersign.KindLimited || kind == countersign.KindUnavailable || kind == countersign.KindInternal
}

// detailsOf is what is known of an error besides its message: an object, without members for
// nothing.
func detailsOf(err *countersign.Error) any {
	switch {
	case err.Data != nil:
		return err.Data
	case len(err.Fields) > 0:
		return map[string]any{"fields": err.Fields}
	}
	return struct{}{}
}
