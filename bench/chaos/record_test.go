//go:build linux

package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnswersAreCounted(t *testing.T) {
	retry := http.Header{"Retry-After": {"5"}}
	for name, c := range map[string]struct {
		answer answer
		want   count
		failed bool
	}{
		"as it has to be":                    {answer{status: 200}, count{right: 1}, false},
		"503 is an answer":                   {answer{status: 503, header: retry}, count{unavailable: 1}, true},
		"503 has to say when to come again":  {answer{status: 503}, count{unavailable: 1, wrong: 1}, true},
		"a valid code is not invalid":        {answer{status: 404}, count{wrong: 1}, false},
		"an internal error is wrong":         {answer{status: 500}, count{wrong: 1}, false},
		"a closed connection is no answer":   {answer{cause: errors.New("EOF")}, count{unanswered: 1}, true},
		"a client may give up":               {answer{gaveUp: true, cause: context.DeadlineExceeded}, count{gaveUp: 1}, true},
		"an answer takes as long as it took": {answer{status: 200, ended: time.Time{}.Add(3 * time.Second)}, count{right: 1, longest: 3 * time.Second}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			r.validated(newCode, "code", c.answer, 200)
			c.want.requests = 1
			if r.counts[newCode] != c.want || (len(r.failures) == 1) != c.failed || len(r.violations) != c.want.violations() {
				t.Errorf("got %+v, %d failures, violations %q; want %+v", r.counts[newCode], len(r.failures), r.violations, c.want)
			}
		})
	}
}

func TestWhatAValidationMaySayAboutARefund(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord()
		r.refunded("gone", time.Second, result{code: 0})
		r.refunded("perhaps", time.Second, result{code: 7, stderr: "not reached"})
		check := func(code string, want ...int) {
			t.Helper()
			if got := r.statuses(code); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", code, got, want)
			}
		}
		check("gone", 200, 404)
		check("perhaps", 200, 404)
		check("other", 200)
		time.Sleep(staleLimit + time.Millisecond) // of the bubble's clock
		check("gone", 404)
		check("perhaps", 200, 404)
	})
}

func TestACommandHasToEnd(t *testing.T) {
	r := newRecord()
	r.refunded("stuck", commandLimit, result{code: -1})
	if r.counts[refundCommand].unanswered != 1 || r.unknown["stuck"] == "" {
		t.Errorf("%+v, %q", r.counts[refundCommand], r.unknown)
	}
}

func TestALicenseIsAcknowledgedByItsID(t *testing.T) {
	r := newRecord()
	if !r.licensed(patientLicense, "code", answer{status: 200, body: `{"status":"success","data":{"license":"ey","license_id":"01"}}`}) {
		t.Error("an issued license was not taken for one")
	}
	if r.licenses["01"].code != "code" {
		t.Errorf("%+v", r.licenses)
	}
	if r.licensed(patientLicense, "code", answer{status: 503, header: http.Header{"Retry-After": {"1"}}}) {
		t.Error("503 was taken for a license")
	}
	if r.licensed(patientLicense, "code", answer{status: 200, body: `{}`}) || r.counts[patientLicense].wrong != 1 {
		t.Errorf("without an id: %+v", r.counts[patientLicense])
	}
}

func TestWhatIsMissingOrFalseInTheEnd(t *testing.T) {
	const denial = "exit code 130: interrupted; unfinished changes were not written"
	for name, c := range map[string]struct {
		kept           kept
		missing, wrong int
	}{
		"everything is there": {kept{licenses: map[string]bool{"01": true}, states: map[string]string{"a": "refunded", "b": "active"}}, 0, 0},
		"a license is not":    {kept{licenses: map[string]bool{"02": true}, states: map[string]string{"a": "refunded", "b": "active"}}, 1, 0},
		"a refund is not":     {kept{licenses: map[string]bool{"01": true}, states: map[string]string{"a": "active", "b": "active"}}, 1, 0},
		"a purchase is not":   {kept{licenses: map[string]bool{"01": true}, states: map[string]string{"b": "active"}}, 1, 0},
		"a denied refund is":  {kept{licenses: map[string]bool{"01": true}, states: map[string]string{"a": "refunded", "b": "refunded"}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			r.licenses["01"] = acknowledged{kind: impatientLicense, code: "c"}
			r.refunds["a"] = time.Now()
			r.unknown["b"] = denial
			r.compare(c.kept)
			missing, wrong := 0, 0
			for _, one := range r.counts {
				missing, wrong = missing+one.missing, wrong+one.wrong
			}
			if missing != c.missing || wrong != c.wrong || len(r.violations) != missing+wrong {
				t.Errorf("missing %d, wrong %d, violations %q", missing, wrong, r.violations)
			}
		})
	}
}

func TestWhichTextsDenyAWrite(t *testing.T) {
	for text, denies := range map[string]bool{
		"interrupted; unfinished changes were not written":               true,
		"Nothing was written":                                            true,
		"interrupted; the change may have been written; check":           false,
		"it may have been written, what was not finished is not written": false,
		"The database can't be reached":                                  false,
	} {
		if deniesWrite(text) != denies {
			t.Errorf("%q denies is %t", text, !denies)
		}
	}
}

func TestParseExport(t *testing.T) {
	k, err := parseExport(`{"type":"item","id":7}
{"type":"purchase","purchase_code":"a","state":"refunded"}
{"type":"license","id":"01","purchase_code":"a"}
`)
	if err != nil || !k.licenses["01"] || len(k.licenses) != 1 || k.states["a"] != "refunded" {
		t.Errorf("%+v, error %v", k, err)
	}
	if _, err := parseExport("no JSON\n"); err == nil {
		t.Error("no error for a line that can't be read")
	}
}

func TestAClientThatGivesUpIsToldFromASilentServer(t *testing.T) {
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/licenses":
			select {
			case <-silent:
			case <-r.Context().Done():
			}
		case "/readyz":
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte(r.FormValue("purchase_code")))
		}
	}))
	defer server.Close()
	defer close(silent)
	s := &store{address: server.URL}
	if a := s.license(context.Background(), time.Millisecond, "code"); !a.gaveUp || a.status != 0 {
		t.Errorf("an impatient client: %+v", a)
	}
	if a := get(context.Background(), server.URL+"/readyz"); a.gaveUp || a.status != 0 || a.cause == nil {
		t.Errorf("a closed connection: %+v", a)
	}
	if a := s.validate(context.Background(), "code"); a.status != 200 || !strings.Contains(a.body, "code") {
		t.Errorf("an answer: %+v", a)
	}
}
