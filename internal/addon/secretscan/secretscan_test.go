package secretscan

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func TestSecretsAreFoundInEveryFormat(t *testing.T) {
	for _, v := range read(t, "testdata/secrets.txt", 60) {
		if kind, found := Find(v.key, v.value); !found || kind == "" {
			t.Errorf("%s = %s: not found", v.key, v.value)
		}
	}
}

func TestHarmlessValuesAreNotSecrets(t *testing.T) {
	for _, v := range read(t, "testdata/harmless.txt", 200) {
		if kind, found := Find(v.key, v.value); found {
			t.Errorf("%s = %s: taken for %s", v.key, v.value, kind)
		}
	}
}

func TestEveryFormatHasAnExample(t *testing.T) {
	examples := read(t, "testdata/secrets.txt", 60)
	for _, f := range formats() {
		seen := false
		for _, v := range examples {
			seen = seen || f.pattern.MatchString(v.value)
		}
		if !seen {
			t.Errorf("%s: no example in testdata/secrets.txt", f.kind)
		}
	}
}

func TestAKeyAnnouncesASecretByAWord(t *testing.T) {
	for key, want := range map[string]string{
		"apiSecret": "secret", "API_SECRET": "secret", "client-secrets": "secrets", "smtpPassword": "password",
		"privateKey": "private", "accessToken": "token", "ACCESS_TOKEN": "token",
		"secretary": "", "tokenizer": "", "clientToken": "", "publishableToken": "", "appName": "", "": "",
	} {
		if got, _ := secretWord(key); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("apiSecret", "0123456789abcdef0123456789abcdef")
	f.Add("", "\xff\x00eyJ")
	f.Fuzz(func(t *testing.T, key, value string) {
		if kind, found := Find(key, value); found == (kind == "") {
			t.Errorf("Find(%q, %q) = %q, %v", key, value, kind, found)
		}
	})
}

type example struct{ key, value string }

// read returns the examples of a file, of which there are at least so many.
func read(t *testing.T, name string, atLeast int) (list []example) {
	t.Helper()
	file := must.Get(os.Open(name))(t)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		key, value, ok := strings.Cut(strings.ReplaceAll(lines.Text(), "·", ""), "\t")
		if !ok {
			t.Fatalf("%s: no tab in %q", name, lines.Text())
		}
		list = append(list, example{key, value})
	}
	if err := lines.Err(); err != nil || len(list) < atLeast {
		t.Fatalf("%s: %d examples, want at least %d (%v)", name, len(list), atLeast, err)
	}
	return list
}
