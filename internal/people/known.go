package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// KnownLife is how long a browser is known after a sign-in.
const KnownLife = 365 * 24 * time.Hour

const (
	// knownUsers is how many users one browser is known for.
	knownUsers   = 5
	knownPurpose = "known browser"
	knownFormat  = "%d.%d.%d.%s" // of a [knownBrowser] without its mac
)

// knownBrowser records that a user has signed in with a browser. It proves nothing but
// that: whoever has it still needs the password, and has few attempts. As text it is
// user.generation.expiry.nonce.mac, and a browser keeps one for each user, joined by
// "~". Nothing in it is a secret.
type knownBrowser struct {
	user, generation int64
	expires          int64 // Unix seconds
	nonce            string
}

func (k knownBrowser) text() string {
	return fmt.Sprintf(knownFormat, k.user, k.generation, k.expires, k.nonce)
}

// signed is the text with its MAC.
func (k knownBrowser) signed(box *keyfile.Box) string {
	mac := box.MAC(knownPurpose, []byte(k.text()))
	return k.text() + "." + base64.RawURLEncoding.EncodeToString(mac[:])
}

// parseKnown reads one text of [knownBrowser.signed]. Nothing in it is looked at
// before its MAC.
func parseKnown(box *keyfile.Box, signed string) (k knownBrowser, ok bool) {
	at := strings.LastIndexByte(signed, '.')
	if at < 0 {
		return k, false
	}
	mac, err := base64.RawURLEncoding.DecodeString(signed[at+1:])
	if err != nil || !box.ValidMAC(knownPurpose, []byte(signed[:at]), mac) {
		return k, false
	}
	_, err = fmt.Sscanf(signed[:at], knownFormat, &k.user, &k.generation, &k.expires, &k.nonce)
	return k, err == nil
}

// knownTo lists what a browser was given and is valid still.
func (p *People) knownTo(box *keyfile.Box, cookie string) (all []knownBrowser) {
	for i, signed := range strings.Split(cookie, "~") {
		if i == knownUsers {
			break
		}
		if k, ok := parseKnown(box, signed); ok && k.expires > p.now().Unix() {
			all = append(all, k)
		}
	}
	return all
}

// RememberBrowser returns the cookie value that marks the browser as known to a
// signed-in user, until the user's Generation changes. cookie is the current value, for
// other users. It returns "" while the key file is not available.
func (p *People) RememberBrowser(u User, cookie string) string {
	box := p.box()
	if box == nil {
		return ""
	}
	first := knownBrowser{u.ID, u.Generation, p.now().Add(KnownLife).Unix(), rand.Text()}
	all := []string{first.signed(box)}
	for _, other := range p.knownTo(box, cookie) {
		if other.user != u.ID && len(all) < knownUsers {
			all = append(all, other.signed(box))
		}
	}
	return strings.Join(all, "~")
}

// knownAs returns under what the failures of a browser are counted that a wanted user
// has signed in with before; "" for every other browser.
func (p *People) knownAs(ctx context.Context, from Origin, wanted func(peopledb.User) bool) (key string, err error) {
	box := p.box()
	if box == nil || from.Known == "" {
		return "", nil
	}
	for _, k := range p.knownTo(box, from.Known) {
		u, err := p.db.User(ctx, k.user)
		if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
			return "", err
		}
		if err == nil && u.Generation == k.generation && wanted(u) {
			return k.nonce, nil
		}
	}
	return "", nil
}
