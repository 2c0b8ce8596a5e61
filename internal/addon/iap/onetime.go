package iap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/entitle"
)

const (
	// lifetime is how the setting names a product whose access has no end.
	lifetime = "lifetime"
	// maxDays is how many days a one-time product can have.
	maxDays = 3660
)

// ParseOneTime reads which products are bought once (KeyOneTime): their days, [entitle.Lifetime] for ever. Its error is
// a sentence about what is wrong.
func ParseOneTime(text string) (map[string]int64, error) {
	list := map[string]int64{}
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		id, value, _ := strings.Cut(entry, "=")
		id = strings.TrimSpace(id)
		if problem := CheckProductID(id); problem != "" {
			return nil, sentence(problem)
		}
		days, problem := parseGrant(strings.TrimSpace(value))
		if problem != "" {
			return nil, sentencef("%s: %s", id, problem)
		}
		if _, twice := list[id]; twice {
			return nil, sentencef("The product %s occurs twice", id)
		}
		list[id] = days
	}
	if len(list) > MaxProducts {
		return nil, sentencef("There are more than %d products", MaxProducts)
	}
	return list, nil
}

func parseGrant(text string) (days int64, problem string) {
	if text == lifetime {
		return entitle.Lifetime, ""
	}
	days, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, "write what it grants as lifetime, or as a number of days, like gold_pass=30"
	}
	return days, CheckDays(days)
}

// CheckDays returns the problem with the days of a one-time product, "" when there is none.
func CheckDays(days int64) (problem string) {
	if days < 1 || days > maxDays {
		return fmt.Sprintf("a product grants 1 to %d days, or lifetime", maxDays)
	}
	return ""
}

// PrintOneTime writes the setting in the one form in which it is stored.
func PrintOneTime(list map[string]int64) string {
	entries := make([]string, 0, len(list))
	for _, id := range slices.Sorted(maps.Keys(list)) {
		entries = append(entries, id+"="+printGrant(list[id]))
	}
	return strings.Join(entries, ", ")
}

func printGrant(days int64) string {
	if days == entitle.Lifetime {
		return lifetime
	}
	return strconv.FormatInt(days, 10)
}

// CheckOneTime returns the setting in the form in which it is stored, or the problem with it.
func CheckOneTime(text string) (value, problem string) {
	list, err := ParseOneTime(text)
	if err != nil {
		return "", err.Error()
	}
	return PrintOneTime(list), ""
}
