package rules

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Limits of what may be written.
const (
	maxName  = 255     // characters of a name or a title
	maxText  = 100_000 // characters of a description
	MaxWords = 100     // entries of a list
	maxLinks = 50      // social links
	// maxMoney is the largest balance, and maxPrice the largest price: 90 million purchases at that
	// price still have a sum.
	maxMoney = 1_000_000_000_000_00
	maxPrice = 1_000_000_000_00
)

var (
	usernamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)
	versionPattern  = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9}){0,3}$`)
	emailPattern    = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

// CheckWorkspace returns all that is wrong with a workspace that is to be written.
func CheckWorkspace(w storedb.Workspace) error {
	a, p := w.Account, w.Account.Profile
	return fault.All(
		wrongIf(!usernamePattern.MatchString(a.Username), "username", "invalid username %q: use 1 to 64 letters, digits, dots, dashes and underscores; begin with a letter or digit", a.Username),
		checkLinks(p.SocialLinks),
		wrongIf(w.Switches.Quota < 0, "quota", "quota: a number of calls a minute can't be negative; 0 means no limit"),
		wrongIf(a.RegisteredAt.IsZero(), "registered_at", "registered_at is missing"),
		checkYear("registered_at", a.RegisteredAt), checkShort("name.firstname", a.Name.Firstname), checkShort("name.lastname", a.Name.Lastname),
		checkEmail("email", a.Email), checkEmail("profile.contact.email", p.Contact.Email),
		checkAmount("balance", max(a.Balance, -a.Balance), maxMoney, a.Currency), checkCurrency(a.Currency),
		checkShort("profile.heading", p.Heading), checkText("profile.description", p.Description),
		checkMediaURL("profile.media.avatar", p.Media.Avatar), checkMediaURL("profile.media.cover", p.Media.Cover),
	)
}

func checkLinks(links countersign.Links) error {
	if len(links) > maxLinks {
		return wrong("social_links", fmt.Sprintf("social_links: at most %d", maxLinks))
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(links)) {
		field := "social_links." + name
		errs = append(errs, fault.At(field, CheckName("a social link's name", name)), checkURL(field, links[name]))
	}
	return fault.All(errs...)
}

// CheckNewID returns what is wrong with the id that was chosen for a new item.
func CheckNewID(id int64) error {
	if id > storedb.MaxGivenID {
		return wrong("id", fmt.Sprintf("id: an item's id is at most %d", int64(storedb.MaxGivenID)))
	}
	return nil
}

// CheckItem returns all that is wrong with an item that is to be written.
func CheckItem(i storedb.Item) error {
	return fault.All(
		wrongIf(i.ID <= 0, "id", "id: an item's id is a positive whole number"),
		wrongIf(!slices.Contains([]storedb.Kind{storedb.KindAudio, storedb.KindVideo, storedb.KindOther}, i.Kind), "kind", "invalid kind %q: use audio, video or other", i.Kind),
		wrongIf(i.Name == "", "name", "name is missing"),
		wrongIf(i.Version != "" && !versionPattern.MatchString(string(i.Version)), "version", "invalid version %q: use numbers with dots, like 1.2.3", i.Version),
		wrongIf(i.PublishedAt.IsZero(), "published_at", "published_at is missing"),
		checkYear("published_at", i.PublishedAt), checkShort("name", i.Name), checkText("description", i.Description), checkShort("category", i.Category),
		checkShort("sub_category", i.SubCategory), checkWords("options", i.Options), checkWords("tags", i.Tags),
		checkURL("demo_link", i.DemoLink), checkMedia(i.Media), checkCurrency(i.Currency),
		checkAmount("price.regular", i.Price.Regular, maxPrice, i.Currency), checkAmount("price.extended", i.Price.Extended, maxPrice, i.Currency),
	)
}

func checkMedia(m countersign.ItemMedia) error {
	errs := []error{checkMediaURL("media.thumbnail", m.Thumbnail)}
	for i, link := range []*string{m.PreviewImage, m.PreviewVideo, m.PreviewAudio} {
		if link != nil {
			errs = append(errs, checkMediaURL([...]string{"media.preview_image", "media.preview_video", "media.preview_audio"}[i], *link))
		}
	}
	errs = append(errs, wrongIf(len(m.Screenshots) > MaxWords, "media.screenshots", "media.screenshots: at most %d", MaxWords))
	for _, link := range m.Screenshots {
		errs = append(errs, checkURL("media.screenshots", link))
	}
	return fault.All(errs...)
}

// CheckPurchase returns all that is wrong with a purchase that is to be written, and
// takes the spaces around its code away.
func CheckPurchase(p *storedb.Purchase) error {
	code, err := CheckCode(p.Code)
	if err == nil {
		p.Code = code
	}
	return fault.All(fault.At("purchase_code", err),
		wrongIf(p.License != countersign.LicenseRegular && p.License != countersign.LicenseExtended, "license_type", "invalid license_type %q: use Regular or Extended", p.License),
		wrongIf(!slices.Contains([]storedb.State{storedb.StateActive, storedb.StateRefunded, storedb.StateChargedBack, storedb.StateRevoked}, p.State),
			"state", "invalid state %q: use active, refunded, charged_back or revoked", p.State),
		wrongIf(p.State == storedb.StateActive && !p.StateAt.IsZero(), "state_at", "state_at: omit it for an active purchase"),
		wrongIf(p.SoldAt.IsZero(), "date", "date is missing"),
		checkYear("date", p.SoldAt), checkYear("supported_until", p.SupportedUntil), checkYear("state_at", p.StateAt), checkAmount("price", p.Price, maxPrice, p.Currency), checkCurrency(p.Currency),
		checkShort("buyer.name", p.BuyerName), checkEmail("buyer.email", p.BuyerEmail))
}

// CheckSale is CheckPurchase for one that a person records, with [CheckSupportEnd].
func CheckSale(p *storedb.Purchase) error { return fault.All(CheckPurchase(p), CheckSupportEnd(*p)) }

// CheckSupportEnd returns what is wrong with an end of support that a person chose: it is
// not before the sale. An import takes such purchases, for earlier exports may have them.
func CheckSupportEnd(p storedb.Purchase) error {
	if !p.SupportedUntil.IsZero() && p.SupportedUntil.Before(p.SoldAt.Time) {
		return wrong("supported_until", fmt.Sprintf("invalid supported_until %s: the purchase was sold later, on %s", p.SupportedUntil, p.SoldAt))
	}
	return nil
}

// CheckName holds a name that people will type to one line of visible text.
func CheckName(what, name string) error {
	if strings.TrimSpace(name) != name || name == "" || utf8.RuneCountInString(name) > 100 || strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		return fault.Invalid(fault.CodeInvalid, what+" is 1 to 100 characters without spaces around them and without control characters")
	}
	return nil
}

// wrong is an error about one field, by its name in the API.
func wrong(field, message string) error {
	return fault.WithFields(fault.Invalid(fault.CodeInvalid, message), map[string]string{field: message})
}

func wrongIf(is bool, field, format string, args ...any) error {
	if !is {
		return nil
	}
	return wrong(field, fmt.Sprintf(format, args...))
}

// checkYear refuses a time that an offset leads to before the year 1, where no calendar agrees.
func checkYear(what string, at countersign.Timestamp) error {
	if at.UTC().Year() < 1 {
		return wrong(what, what+": it is before the year 1 in UTC")
	}
	return nil
}

func checkShort(what, text string) error { return checkLength(what, text, maxName) }
func checkText(what, text string) error  { return checkLength(what, text, maxText) }

func checkLength(what, text string, most int) error {
	if utf8.RuneCountInString(text) > most {
		return wrong(what, fmt.Sprintf("%s is longer than %d characters", what, most))
	}
	return noNUL(what, text)
}

// noNUL refuses what one of the engines can't store.
func noNUL(what, text string) error {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return wrong(what, what+" contains a NUL character or is not UTF-8")
	}
	return nil
}

func checkWords(what string, words []string) error {
	if len(words) > MaxWords {
		return wrong(what, fmt.Sprintf("%s: at most %d", what, MaxWords))
	}
	for _, w := range words {
		if err := checkShort(what, w); err != nil {
			return err
		}
	}
	return nil
}

func checkEmail(what, text string) error {
	if text != "" && !emailPattern.MatchString(text) {
		return wrong(what, fmt.Sprintf("%s %q is not an e-mail address", what, text))
	}
	return checkShort(what, text)
}

// checkURL wants an absolute web address, or nothing.
func checkURL(what, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || len(text) > 2048 {
		return wrong(what, what+" is not a web address that begins with https:// or http://")
	}
	return noNUL(what, text)
}

func checkCurrency(text string) error {
	if !currencyPattern.MatchString(text) {
		return wrong("currency", fmt.Sprintf("invalid currency %q: use three capital letters, like USD", text))
	}
	return nil
}

func checkAmount(what string, m, most countersign.Money, currency string) error {
	if m < 0 {
		return wrong(what, what+" is negative")
	}
	if m > most {
		return wrong(what, what+" is too large")
	}
	if m%100 != 0 && countersign.CurrencyDecimals(currency) == 0 {
		return wrong(what, what+" has decimals, which "+currency+" does not have")
	}
	return nil
}

// WithFullName fills in the name that is made of the two others.
func WithFullName(w storedb.Workspace) storedb.Workspace {
	n := &w.Account.Name
	switch {
	case n.Firstname == "":
		n.FullName = n.Lastname
	case n.Lastname == "":
		n.FullName = n.Firstname
	default:
		n.FullName = n.Firstname + " " + n.Lastname
	}
	return w
}
