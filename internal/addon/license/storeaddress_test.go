package license

import (
	"net/url"
	"testing"
)

func TestAnAddressOfAStoreHasOneForm(t *testing.T) {
	for text, want := range map[string]string{
		" https://store.example/ ": "https://store.example", "HTTPS://Store.Example:443": "https://store.example", "https://store.example:8443/Shop/": "https://store.example:8443/Shop",
		"http://LOCALHOST:80": "http://localhost", "http://[::1]:80/": "http://[::1]", "http://[::1]:8080": "http://[::1]:8080", "https://Bücher.example": "https://bücher.example", "https://store.example/a%2Fb": "https://store.example/a%2Fb",
		"https://store.example?": "", "https://store.example/#": "", "https://store.example?a=b": "", "https://a@store.example": "", "https://:443": "", "https://store.example:99999": "", "https://2130706433": "", "//store.example": "", "http://10.0.0.1": "http://10.0.0.1",
	} {
		if got, problem := checkStore(text); (problem == "") != (want != "") || (problem == "" && got != want) {
			t.Errorf("%q is %q, %s", text, got, problem)
		}
	}
}

// An address of a store has one form, which is an address again.
func FuzzStoreAddress(f *testing.F) {
	for _, seed := range []string{
		"https://store.example", " HTTPS://Store.Example:443/a/ ", "http://localhost:80", "http://[::1]:8080/", "https://bücher.example/a%2Fb", "https://a:b@c", "https://a?b", "https://a#b", "https://:1", "store",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, problem := checkStore(text)
		if problem != "" {
			return
		}
		if again, problem := checkStore(one); again != one || problem != "" {
			t.Errorf("%q is %q, and that is %q, %s", text, one, again, problem)
		}
		if u, err := url.Parse(one); err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%q is taken as %q", text, one)
		}
	})
}
