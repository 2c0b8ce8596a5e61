package conformance

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"time"
)

// What both simulations and the addon agree on.
const (
	appPackage   = "com.cafe.social"
	pushAudience = "https://cafe.example/api-addons/iap/notifications/store"
	pushAccount  = "push@cafe-1.iam.gserviceaccount.com"
)

// The products of both catalogues. Gold has a prepaid plan and one in installments too; the last
// product is not mapped to a package.
const (
	silver, gold, unmapped = "silver_monthly", "gold_monthly", "extra_storage"

	// Products that are bought once: for ever, and for days.
	forever, pass = "gold_forever", "gold_pass"

	prepaid      = "prepaid"
	installments = "installments"
)

// deferred is the mode of a replacement that begins with the next renewal.
const deferred = "deferred"

// purchase is what a user buys.
type purchase struct {
	product, plan string // "" for the first plan
	account       string // the obfuscated account id, "" for none
	replaces      string // the token of the subscription that this one replaces
	mode          string // "" or deferred
	pending, test bool
	quantity      int // of a product that is bought once, 0 for one
}

// message is a notification as Pub/Sub has it.
type message struct {
	id   string
	data []byte // JSON
}

// simulation is a simulated Google Play that a case drives. Acts return an error when Google
// would not allow them.
type simulation interface {
	http.Handler
	// serviceAccount is the file of the service account that is admitted.
	serviceAccount() []byte
	// move moves the clock forward. What becomes due happens.
	move(to time.Time)

	buy(p purchase) (token string, err error)
	// buyAgain buys an expired subscription again in Google's own pages.
	buyAgain(token string) (string, error)
	pay(token string) error           // of a pending purchase
	cancelPending(token string) error // it is never paid
	// renew is called when the paid time has just ended.
	renew(token string) error
	// decline has the card declined from the next renewal on.
	decline(token string) error
	recover(token string) error
	cancel(token string) error
	restore(token string) error
	pauseMonth(token string) error
	resume(token string) error
	expire(token string) error
	revoke(token string) error

	// addItem and removeItem change the products of a subscription, and return its token from then on.
	addItem(token, product string) (string, error)
	removeItem(token, product string) (string, error)
	// raisePrice raises the price of a plan to a whole number, which its subscribers have to accept.
	raisePrice(product, plan string, units int64) error
	acceptPrice(token string) error

	lastOrder(token string) string
	refund(order string, revoke bool) error
	// refundPart refunds some of a quantity.
	refundPart(token string, n int) error
	chargeback(order string) error
	// reviewChargeback asks the site about a chargeback, and reviewAnswer is what it answered.
	reviewChargeback(order string) error
	reviewAnswer(order string) string

	// news returns the notifications since the last call, oldest first.
	news() []message
	// push returns the bearer token and the body of the request that delivers a message.
	push(m message) (bearer string, body []byte, err error)
	// withdraw takes the permission to read purchases from the service account, or returns it.
	withdraw(taken bool)
	// replaceAccountKey replaces the key of the service account, and with it the file.
	replaceAccountKey() error
	// rotatePushKey replaces the key that signs the requests with notifications.
	rotatePushKey() error
}

// simulations opens the simulations by their names.
var simulations = map[string]func(start time.Time) (simulation, error){
	"playfake": openPlayfake,
	"playdoc":  openPlaydoc,
}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}
