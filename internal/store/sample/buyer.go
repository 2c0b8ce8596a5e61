package sample

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

//go:embed data/names.txt
var nameLines string

// buyer is who paid.
type buyer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// person is one part of a name, as written and as it stands in an e-mail address.
type person struct{ written, plain string }

// region is one line of data/names.txt.
type region struct {
	familyFirst   bool
	given, family []person
}

func regions() []region {
	var all []region
	for _, line := range embedded(nameLines) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "|")
		all = append(all, region{
			familyFirst: strings.TrimSpace(parts[0]) == "family",
			given:       people(parts[1]),
			family:      people(parts[2]),
		})
	}
	return all
}

func people(names string) []person {
	var all []person
	for name := range strings.FieldsSeq(names) {
		written, plain, ok := strings.Cut(name, "/")
		if !ok {
			plain = strings.ToLower(written)
		}
		all = append(all, person{strings.ReplaceAll(written, "-", joint(written)), plain})
	}
	return all
}

// joint is what stands for a hyphen of data/names.txt: a space where a name is
// written as two words.
func joint(name string) string {
	if strings.HasPrefix(name, "Al-") || strings.HasPrefix(name, "El-") {
		return "-"
	}
	return " "
}

func drawBuyer(rng *rand.Rand, from []region) buyer {
	r := from[rng.IntN(len(from))]
	given, family := r.given[rng.IntN(len(r.given))], r.family[rng.IntN(len(r.family))]
	name := given.written + " " + family.written
	if r.familyFirst {
		name = family.written + " " + given.written
	}
	hosts := [...]string{"inbox.example", "mail.example", "post.example", "studio.example", "letters.example"}
	address := given.plain + "." + family.plain
	if rng.IntN(3) == 0 {
		address = given.plain[:1] + family.plain
	}
	return buyer{name, address + "@" + hosts[rng.IntN(len(hosts))]}
}
