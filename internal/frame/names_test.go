package frame

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestBrowsersAreNamedInWordsOfPeople(t *testing.T) {
	want := map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0":                                                                     "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36":                            "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0":              "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":                      "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1":    "Safari on iPhone",
		"Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36": "Samsung Internet on Android",
		"curl/8.10.1": "curl",
		"":            "Unknown browser",
		"<script>":    "Unknown browser",
	}
	for agent, name := range want {
		expect.Equalf(t, agentName(agent), name, "%q is named", agent)
	}
}

func TestOnlyPathsOfOursAreOurs(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/admin": true, "/admin?next=https://x": true, "/a//b": true,
		"": false, "admin": false, "//evil.example": false, "/\\evil.example": false, "\\/evil": false, "https://evil.example": false,
		"/\t/evil.example": false, "/a\r\nSet-Cookie: x": false, "javascript:alert(1)": false,
	} {
		expect.Equalf(t, isOurs(path), want, "%q", path)
	}
}

func TestAnchorsAreMadeOfLettersAndDigits(t *testing.T) {
	for title, want := range map[string]string{"Before you go live": "s-before-you-go-live", "1. Ärger & \"Glück\"": "s-1--ärger----glück", "<x>": "s-x"} {
		expect.Equalf(t, anchor(title), want, "%q", title)
	}
}
