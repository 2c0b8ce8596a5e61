package countersign

// UserToken is what an addon gives the server of a site for a user who is signed in there. The site hands it to its app,
// which sends it with its calls. It prints without the token.
type UserToken struct {
	Token     string    `json:"token"`
	ExpiresAt Timestamp `json:"expires_at"`
}

// String describes the token without showing it.
func (t UserToken) String() string { return "user token until " + t.ExpiresAt.String() }

// GoString is String, for %#v.
func (t UserToken) GoString() string { return t.String() }

// AppUser is the user whom an addon takes an app's credentials for.
type AppUser struct {
	// UserID is the id that the site has for the user.
	UserID string `json:"user_id"`
	// ExpiresAt is when the app needs a new token.
	ExpiresAt Timestamp `json:"expires_at"`
}
