package iap

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/input"
)

// Limits of the product map.
const (
	// MaxProducts is how many products the map may have.
	MaxProducts   = 1000
	maxProductMap = 128 << 10 // bytes
)

// NoProducts is the map without any products.
const NoProducts = `{"store":{}}`

// platformStore is the platform that the map may name (spec 2.6).
const platformStore = "store"

// productIDPattern is the form of a store product id: a lower-case, stable string
// (spec 2.7).
var productIDPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._]{0,147}$`)

// Product is a line of the product map: a store product and the membership
// package that it gives.
type Product struct {
	StoreID   string
	PackageID int64
	// OneTime reports that it is bought once, for Days or with [entitle.Lifetime] for ever. It is of another setting.
	OneTime bool
	Days    int64
}

// ParseProducts reads a product map (spec 2.6); an empty text is a map without
// products. The products come by store id. Its error is a sentence about what is
// wrong.
func ParseProducts(text string) ([]Product, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if len(text) > maxProductMap {
		return nil, sentencef("The map is larger than %d bytes", maxProductMap)
	}
	p := productReader{dec: jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true)), found: map[string]int64{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	list := make([]Product, 0, len(p.found))
	for _, id := range slices.Sorted(maps.Keys(p.found)) {
		list = append(list, Product{StoreID: id, PackageID: p.found[id]})
	}
	return list, nil
}

// sentence is an error whose text is a sentence for people.
type sentence string

func (s sentence) Error() string { return string(s) }

func sentencef(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// productReader reads a product map token by token, to say exactly what is wrong
// with it.
type productReader struct {
	dec   *jsontext.Decoder
	found map[string]int64
}

func (p productReader) read() error {
	platforms := map[string]bool{}
	err := p.members(`The map is not a JSON object of the form {"store":{"product_id":1}}`, func(name string) error {
		switch {
		case platforms[name]:
			return sentencef("The platform %q occurs twice", name)
		case name != platformStore:
			return sentencef("The platform %q is not known; the only one is %q", input.Shorten(name), platformStore)
		}
		platforms[name] = true
		return p.members(`"store" must be a JSON object: {"product_id":1}`, p.product)
	})
	if err != nil {
		return err
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return sentence("Unexpected text after the JSON object")
	}
	return nil
}

var errBadJSON = sentence("This is not valid JSON")

// members reads an object and calls member with each name; member reads the value. otherwise is the error of a value
// that is not an object.
func (p productReader) members(otherwise string, member func(name string) error) error {
	if token, err := p.dec.ReadToken(); err != nil {
		return errBadJSON
	} else if token.Kind() != jsontext.KindBeginObject {
		return sentence(otherwise)
	}
	for p.dec.PeekKind() != jsontext.KindEndObject {
		name, err := p.dec.ReadToken()
		if err != nil {
			return errBadJSON
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return errBadJSON
	}
	return nil
}

// product reads the package of a product.
func (p productReader) product(id string) error {
	if problem := CheckProductID(id); problem != "" {
		return sentence(problem)
	}
	if _, twice := p.found[id]; twice {
		return sentencef("The product %s occurs twice", id)
	}
	value, err := p.dec.ReadValue()
	if err != nil {
		return errBadJSON
	}
	if p.found[id], err = packageID(id, value); err != nil {
		return err
	}
	if len(p.found) > MaxProducts {
		return sentencef("There are more than %d products", MaxProducts)
	}
	return nil
}

// CheckProductID returns the problem with a store product id, "" when there is none.
func CheckProductID(id string) (problem string) {
	switch {
	case id == "":
		return "A product id is missing"
	case productIDPattern.MatchString(id):
		return ""
	case productIDPattern.MatchString(strings.ToLower(id)):
		return fmt.Sprintf("The product id %s has capital letters; store product ids are lower case", id)
	}
	return fmt.Sprintf("invalid product id %s: use lower-case letters, digits, dots and underscores, up to 148", strconv.Quote(input.Shorten(id)))
}

func packageID(product string, value jsontext.Value) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if value.Kind() != jsontext.KindNumber || err != nil || n <= 0 {
		return 0, sentencef("The package id of %s is %s; it must be a positive whole number, not in quotes", product, input.Shorten(string(value)))
	}
	return n, nil
}

// PrintProducts writes a map in the one form in which it is stored.
func PrintProducts(list []Product) string {
	found := make(map[string]int64, len(list))
	for _, p := range list {
		found[p.StoreID] = p.PackageID
	}
	text, _ := countersign.EncodeJSON(map[string]map[string]int64{platformStore: found}) // strings and numbers alone
	return string(text)
}

// CheckProducts returns a map in the form in which it is stored, or the problem with it.
func CheckProducts(text string) (value, problem string) {
	list, err := ParseProducts(text)
	if err != nil {
		return "", err.Error()
	}
	return PrintProducts(list), ""
}
