package addon

import (
	"context"
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
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Limits of the product map.
const (
	maxProducts   = 1000
	maxProductMap = 128 << 10 // bytes
)

// noProducts is the map without any.
const noProducts = `{"store":{}}`

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
	return productsOf(p.found), nil
}

func productsOf(found map[string]int64) []Product {
	list := make([]Product, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		list = append(list, Product{id, found[id]})
	}
	return list
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
	if err := p.open("The map is not a JSON object of the form " + `{"store":{"product_id":1}}`); err != nil {
		return err
	}
	platforms := map[string]bool{}
	for p.dec.PeekKind() != jsontext.KindEndObject {
		name, err := p.name()
		if err != nil {
			return err
		}
		switch {
		case platforms[name]:
			return sentencef("The platform %q stands there twice", name)
		case name != platformStore:
			return sentencef("The platform %q is not known; the only one is %q", shorten(name), platformStore)
		}
		platforms[name] = true
		if err := p.products(); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return errBadJSON
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return sentence("Something follows the JSON object")
	}
	return nil
}

var errBadJSON = sentence("This is not valid JSON")

func (p productReader) open(otherwise string) error {
	if token, err := p.dec.ReadToken(); err != nil {
		return errBadJSON
	} else if token.Kind() != jsontext.KindBeginObject {
		return sentence(otherwise)
	}
	return nil
}

func (p productReader) name() (string, error) {
	token, err := p.dec.ReadToken()
	if err != nil {
		return "", errBadJSON
	}
	return token.String(), nil
}

func (p productReader) products() error {
	if err := p.open(`"store" must be a JSON object: {"product_id":1}`); err != nil {
		return err
	}
	for p.dec.PeekKind() != jsontext.KindEndObject {
		id, err := p.name()
		if err != nil {
			return err
		}
		if problem := checkProductID(id); problem != "" {
			return sentence(problem)
		}
		if _, twice := p.found[id]; twice {
			return sentencef("The product %s stands there twice", id)
		}
		value, err := p.dec.ReadValue()
		if err != nil {
			return errBadJSON
		}
		if p.found[id], err = packageID(id, value); err != nil {
			return err
		}
		if len(p.found) > maxProducts {
			return sentencef("There are more than %d products", maxProducts)
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return errBadJSON
	}
	return nil
}

func checkProductID(id string) (problem string) {
	switch {
	case id == "":
		return "A product id is missing"
	case productIDPattern.MatchString(id):
		return ""
	case productIDPattern.MatchString(strings.ToLower(id)):
		return fmt.Sprintf("The product id %s has capital letters; store product ids are lower case", id)
	}
	return fmt.Sprintf("%s is no product id: they are lower-case letters, digits, dots and underscores, up to 148", strconv.Quote(shorten(id)))
}

// shorten keeps a text of somebody else's short in a message.
func shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= 60 {
		return text
	}
	return string(characters[:60]) + "…"
}

func packageID(product string, value jsontext.Value) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if value.Kind() != jsontext.KindNumber || err != nil || n <= 0 {
		return 0, sentencef("The package id of %s is %s; it must be a positive whole number, not in quotes", product, shorten(string(value)))
	}
	return n, nil
}

// printProducts writes a map in the one form in which it is kept.
func printProducts(list []Product) string {
	found := make(map[string]int64, len(list))
	for _, p := range list {
		found[p.StoreID] = p.PackageID
	}
	text, _ := countersign.EncodeJSON(map[string]map[string]int64{platformStore: found}) // strings and numbers alone
	return string(text)
}

func checkProducts(text string) (value, problem string) {
	list, err := ParseProducts(text)
	if err != nil {
		return "", err.Error()
	}
	return printProducts(list), ""
}

// missingPackages says which packages of a map do not exist, "" when all do.
func missingPackages(products string, packages []Package) (problem string) {
	list, _ := ParseProducts(products) // what is kept was checked
	for _, p := range list {
		known := slices.ContainsFunc(packages, func(k Package) bool { return k.ID == p.PackageID })
		if !known {
			return fmt.Sprintf("The product %s gives package %d, which does not exist; add the package first", p.StoreID, p.PackageID)
		}
	}
	return ""
}

// Products lists the draft's product map by store id.
func (a *Addon) Products(ctx context.Context, actor people.Actor) ([]Product, error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return nil, err
	}
	rows, err := a.db.Settings(ctx)
	return valuesOf(rows).products(), err
}

// AddProduct maps a store product to a package in the draft. A product that is
// mapped already is a conflict (product_exists).
func (a *Addon) AddProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID int64) (Settings, error) {
	storeID = strings.TrimSpace(storeID)
	if problem := checkProductID(storeID); problem != "" {
		return Settings{}, refused(map[string]string{"product": problem})
	}
	return a.changeProducts(ctx, actor, revision, func(list []Product) ([]Product, error) {
		for _, p := range list {
			if p.StoreID == storeID && p.PackageID != packageID {
				return nil, fault.Conflict("product_exists", fmt.Sprintf("The product %s gives package %d already; remove it first", storeID, p.PackageID))
			}
		}
		if len(list) >= maxProducts {
			return nil, refused(map[string]string{"product": fmt.Sprintf("There are %d products already", len(list))})
		}
		return append(list, Product{storeID, packageID}), nil
	}, "package")
}

// RemoveProduct takes a store product out of the draft's map. Its error is of kind
// NotFound when it is not in there.
func (a *Addon) RemoveProduct(ctx context.Context, actor people.Actor, revision int64, storeID string) (Settings, error) {
	return a.changeProducts(ctx, actor, revision, func(list []Product) ([]Product, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(p Product) bool { return p.StoreID == storeID })
		if len(left) == len(list) {
			return nil, fault.NotFound("product_not_found", fmt.Sprintf("There is no product %s in the map", strconv.Quote(shorten(storeID))))
		}
		return left, nil
	}, KeyIAPProductMap)
}

// changeProducts changes the map in the draft. field names what is wrong when a
// package does not exist.
func (a *Addon) changeProducts(ctx context.Context, actor people.Actor, revision int64, change func([]Product) ([]Product, error), field string) (Settings, error) {
	return a.changeDraft(ctx, actor, revision, func(tx *addondb.DB, v values) error {
		list, err := change(v.products())
		if err != nil {
			return err
		}
		packages, err := tx.Packages(ctx)
		if err != nil {
			return err
		}
		text := printProducts(list)
		if problem := missingPackages(text, packages); problem != "" {
			return refused(map[string]string{field: problem})
		}
		v.put(KeyIAPProductMap, TypeProducts, text)
		return nil
	})
}

// products reads the map, which was checked when it was set.
func (v values) products() []Product {
	list, _ := ParseProducts(v[KeyIAPProductMap].Value)
	return list
}
