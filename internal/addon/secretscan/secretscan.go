// Package secretscan recognizes secrets among values that are about to become public:
// by the formats that services document for their credentials, and by high entropy
// under a key whose name says that the value is secret.
package secretscan

import (
	"math"
	"strings"
	"unicode"
)

// Find returns what a value looks like, for example "a Stripe secret key", and whether
// it looks like a secret at all. The key is the name that the value is published under;
// "" when it has none. A publishable key, an id or a URL without a password is not one.
func Find(key, value string) (kind string, found bool) {
	for _, f := range formats() {
		if f.pattern.MatchString(value) {
			return f.kind, true
		}
	}
	if word, says := secretWord(key); says && random(value) {
		return "a random value under a key that says “" + word + "”", true
	}
	return "", false
}

// secretWord returns the word in a key's name that announces a secret. A token for
// clients is meant for them.
func secretWord(key string) (word string, says bool) {
	words := words(key)
	has := func(any ...string) (string, bool) {
		for _, w := range words {
			for _, a := range any {
				if strings.TrimSuffix(w, "s") == a {
					return w, true
				}
			}
		}
		return "", false
	}
	if word, says = has("secret", "password", "passwd", "passphrase", "private"); says {
		return word, true
	}
	if _, public := has("client", "public", "publishable"); public {
		return "", false
	}
	return has("token")
}

// words splits a name like apiSecret, API_SECRET or api-secret into lower-case words.
func words(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

const (
	minRandom  = 12  // characters in parts that mix letters and digits
	minEntropy = 3.0 // bits a character; 16 random hexadecimal digits have about 3.2
)

// random reports whether a value looks as if it was drawn at random: parts that mix
// letters and digits, as words and numbers do not, with many different characters.
// URLs and keys that are made to be published are not.
func random(value string) bool {
	if strings.Contains(value, "://") || publishable().MatchString(value) {
		return false
	}
	var mixed strings.Builder
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" -_./:,;<>=", r) }) {
		if strings.ContainsFunc(part, unicode.IsDigit) && strings.ContainsFunc(part, unicode.IsLetter) {
			mixed.WriteString(part)
		}
	}
	return mixed.Len() >= minRandom && entropy(mixed.String()) >= minEntropy
}

// entropy returns Shannon's entropy of a text in bits a byte.
func entropy(text string) (bits float64) {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
