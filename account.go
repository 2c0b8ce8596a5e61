package countersign

// Account is the `data` of account details (spec 2.2): the workspace that the API key belongs to.
type Account struct {
	Name         Name      `json:"name"`
	Username     string    `json:"username"`
	Email        string    `json:"email"`
	Balance      Money     `json:"balance"`
	Currency     string    `json:"currency"`
	Profile      Profile   `json:"profile"`
	RegisteredAt Timestamp `json:"registered_at"`
}

// Name is the owner's name (spec 2.2).
type Name struct {
	Firstname string `json:"firstname"`
	Lastname  string `json:"lastname"`
	FullName  string `json:"full_name"`
}

// Profile is the public page of an account (spec 2.2).
type Profile struct {
	Heading     string       `json:"heading"`
	Description string       `json:"description"`
	Contact     Contact      `json:"contact"`
	SocialLinks Links        `json:"social_links"`
	Media       ProfileMedia `json:"media"`
}

// Contact is the public address on a profile (spec 2.2).
type Contact struct {
	Email string `json:"email"`
}

// ProfileMedia holds the absolute URLs of a profile's pictures (spec 2.2). A store never leaves one empty.
type ProfileMedia struct {
	Avatar string `json:"avatar"`
	Cover  string `json:"cover"`
}
