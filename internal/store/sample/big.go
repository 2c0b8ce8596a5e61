package sample

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/countersign/countersign"
)

// BigWorkspace is the one workspace of Big.
const BigWorkspace = "warehouse"

// bigFirstItem is beyond the ids of Lines: both shops fit into one store.
const bigFirstItem = 1_000_001

// Big returns a shop for load tests as JSON Lines: BigWorkspace, its secret key
// BigKey, items, then purchases, all active. Their codes are BigCode(0) to
// BigCode(purchases-1). There is at least one item. Memory does not grow with
// either number. It can seek to its start.
func Big(items, purchases int) io.ReadSeeker {
	items = max(items, 1)
	return &lineReader{count: 2 + items + purchases, line: func(i int) string {
		switch {
		case i == 0:
			return bigWorkspaceLine()
		case i == 1:
			return secretKeyLine(BigWorkspace)
		case i < 2+items:
			return bigItemLine(i - 2)
		default:
			return bigPurchaseLine(i-2-items, items)
		}
	}}
}

// BigKey returns the secret key of BigWorkspace.
func BigKey() string { return SecretKey(BigWorkspace) }

// BigItem returns the id of item number i of Big, from 0.
func BigItem(i int) int64 { return bigFirstItem + int64(i) }

// BigCode returns the code of purchase number i of Big, from 0. No two of the first
// 2^48 are the same in any letter case: the number stands in the code's first 48
// bits, shuffled by multiplication with an odd constant.
func BigCode(i int) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(i)*0x9e3779b97f4b<<16|mix(uint64(i))&0xffff)
	binary.BigEndian.PutUint64(b[8:], mix(^uint64(i)))
	return uuidOf(b)
}

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func bigWorkspaceLine() string {
	return fmt.Sprintf(`{"type":"workspace","username":%q,"name":{"firstname":"Wilma","lastname":"Harcourt"},`+
		`"email":"wilma@warehouse.example","balance":0.00,"currency":"USD","profile":{"heading":"Everything, in quantity",`+
		`"description":"A very large shop.","contact":{"email":"hello@warehouse.example"},"social_links":{},`+
		`"media":{"avatar":"","cover":""}},"registered_at":"2020-01-06T09:00:00Z"}`, BigWorkspace)
}

func bigItemLine(i int) string {
	media := fmt.Sprintf("https://cdn.warehouse.example/items/%d/", BigItem(i))
	previews := [...]string{
		fmt.Sprintf(`"preview_image":"%spreview.jpg"`, media),
		fmt.Sprintf(`"preview_image":"%[1]spreview.jpg","preview_video":"%[1]spreview.mp4"`, media),
		fmt.Sprintf(`"preview_audio":"%spreview.mp3"`, media),
	}
	kinds := [len(previews)]string{"other", "video", "audio"}
	kind := i % len(kinds)
	return fmt.Sprintf(`{"type":"item","workspace":%q,"id":%d,"kind":%q,"support":true,"name":"Warehouse item %d",`+
		`"description":"Number %[4]d of the warehouse.","category":"Warehouse","sub_category":"Shelf %[5]d","options":["Standard"],`+
		`"version":"1.%[6]d.0","demo_link":"https://warehouse.example/demo/%[2]d","tags":["warehouse","bulk"],`+
		`"media":{"thumbnail":"%[7]sthumbnail.jpg",%[8]s},"price":{"regular":%[9]s,"extended":%[10]s},"currency":"USD",`+
		`"published_at":"2020-02-03T09:00:00Z"}`,
		BigWorkspace, BigItem(i), kinds[kind], i+1, i/100+1, i%20, media, previews[kind],
		bigPrice(i), 5*bigPrice(i))
}

// bigDays is over how many days the purchases of Big are spread.
const bigDays = 1000

// BigFirstDay is the day of the first purchases of Big, in UTC.
func BigFirstDay() time.Time { return End().AddDate(0, 0, -bigDays) }

func bigPrice(item int) countersign.Money { return countersign.Money(900 + 100*(item%90)) }

func bigPurchaseLine(i, items int) string {
	n := mix(uint64(i) + 1<<40)
	item := int(n % uint64(items))
	date := countersign.At(End().Add(-time.Duration(1+n>>20%(bigDays*86400)) * time.Second))
	p := purchase{
		Type: "purchase", Workspace: BigWorkspace, ItemID: BigItem(item), Code: BigCode(i), License: countersign.LicenseRegular,
		Price: bigPrice(item), Currency: "USD", Downloaded: n>>6%4 != 0, Date: date, State: "active",
		Buyer: buyer{fmt.Sprintf("Buyer %d", i+1), fmt.Sprintf("buyer%d@inbox.example", i+1)},
	}
	if n>>12%11 == 0 {
		p.License, p.Price = countersign.LicenseExtended, 5*p.Price
	}
	if n>>8%7 != 0 {
		p.SupportedUntil.Time = date.AddDate(0, 6, 0)
	}
	return p.line()
}
