// Package snippet writes a call of the API as code, in the languages of those who make such
// calls. No code has an API key in it: it reads the key from the environment.
package snippet

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

// Param is a parameter of a call. Its value may be what a person typed.
type Param struct{ Name, Value string }

// Call is what the code asks the API.
type Call struct {
	// URL is the address of the endpoint, without a query.
	URL string
	// Post sends the parameters in the body of a POST, else they stand in the query of a GET.
	Post   bool
	Params []Param
	// Member is the member of a success that the code prints.
	Member string
	// NotFound says what the status 404 means.
	NotFound string
}

// Language is a language, or a framework, in which calls can be written.
type Language struct {
	// Name is the name in addresses and files, Label what readers call it.
	Name, Label string
	code        *template.Template
}

//go:embed templates/*.tmpl
var files embed.FS

var languages = []Language{
	newLanguage("curl", "curl", quoteShell),
	newLanguage("php", "PHP", quotePHP),
	newLanguage("laravel", "Laravel", quotePHP),
	newLanguage("wordpress", "WordPress", quotePHP),
	newLanguage("node", "Node", quoteDouble("")),
	newLanguage("python", "Python", quoteDouble("")),
	newLanguage("go", "Go", quoteDouble("")),
	newLanguage("dart", "Dart", quoteDouble("$")),
	newLanguage("kotlin", "Kotlin", quoteDouble("$")),
}

// newLanguage reads the template of a language, whose texts quote writes as literals.
func newLanguage(name, label string, quote func(string) string) Language {
	code := template.Must(template.New(name+".tmpl").Funcs(template.FuncMap{"quote": quote}).ParseFS(files, "templates/"+name+".tmpl"))
	return Language{name, label, code}
}

// Languages lists all languages, in the order in which they are shown.
func Languages() []Language { return languages }

// Write writes a call in the language.
func (l Language) Write(c Call) (string, error) {
	var b strings.Builder
	if err := l.code.Execute(&b, c); err != nil {
		return "", fmt.Errorf("snippet: %s: %w", l.Name, err)
	}
	return b.String(), nil
}
