package frame

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestCodesWrapBehindTheirPunctuationAlone(t *testing.T) {
	for code, want := range map[string]string{
		"7c0f3b1e-5d2a-4c44":                  "7c0f3b1e-|5d2a-|4c44",
		"https://store.example/.well-known/x": "https://|store.|example/.well-|known/|x",
		"site.example.gold_monthly":           "site.|example.|gold_|monthly",
		"countersign user reset --web-token":  "countersign user reset --web-|token",
		`{"status":"error","msg":"…"}`:        `{"status":|"error",|"msg":|"…"}`,
		"cak_9f2Yk0a8dZ3pQ7wLm1Rt5vXc6Bn4Hj":  "cak_|9f2Yk0a8dZ3pQ7wLm1Rt5vXc6Bn4Hj",
		"":                                    "",
	} {
		expect.Equalf(t, strings.Join(codePieces(code, marks+"-"), "|"), want, "%q wraps as", code)
	}
}

func TestACodeThatIsWiderThanAPhoneScrollsByKeyboard(t *testing.T) {
	if got := htmlOf(t, Mono("cak_9f2Yk0a8dZ3pQ7wLm1Rt5vXc6Bn4Hj")); !strings.Contains(got, `code-scroll" tabindex="0"`) {
		t.Error(got)
	}
	if got := htmlOf(t, Mono("7c0f3b1e-5d2a-4c44-9b1e-2f6c0a1d8e37")); strings.Contains(got, "tabindex") {
		t.Error(got)
	}
}

func TestMomentsInTextsAreTimeElementsAndTheRestIsText(t *testing.T) {
	moment := time.Date(2026, 11, 3, 8, 5, 0, 0, time.UTC)
	got := htmlOf(t, pieces("By <ada>, "+Moment(moment)+"."))
	want := `By &lt;ada&gt;, <time datetime="2026-11-03T08:05:00Z" title="3 Nov 2026, 08:05:00 UTC">3 Nov 2026, 08:05 UTC</time>.`
	expect.Equal(t, got, want)
}

func TestCodesOfAManualWrapAndItsBlocksStay(t *testing.T) {
	got := htmlOf(t, codesIn(`<p><code>a&quot;b_c</code></p><pre tabindex="0"><code>a_b</code></pre>`))
	if want := `<p><code>a&#34;b_<wbr>c</code></p><pre tabindex="0"><code>a_b</code></pre>`; got != want {
		t.Errorf("%s instead of %s", got, want)
	}
}

func htmlOf(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, c.Render(t.Context(), &b))
	return b.String()
}
