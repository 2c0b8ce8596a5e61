package addon

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/token"
)

// pair reveals the API credentials with an id.
func (f *fixture) pair(t *testing.T, id int64) APICredentials {
	t.Helper()
	_, pair, err := f.RevealCredential(t.Context(), operator, id)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func (f *fixture) secondPair(t *testing.T) APICredentials {
	t.Helper()
	_, pair, err := f.CreateCredential(t.Context(), operator, "Second")
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func (f *fixture) mustToken(t *testing.T, userID string) string {
	t.Helper()
	made, err := f.NewUserToken(program, userID)
	if err != nil {
		t.Fatal(err)
	}
	return made.Token
}

func TestAUserTokenIsForTheUserItWasMadeFor(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, id := range []string{"7", "Müşik ♪", "ada@site.example", strings.Repeat("ü", 128), `"},{"sub":"8`} {
			made, err := f.NewUserToken(program, id)
			if err != nil || !made.Expires.Equal(noon.Add(usertoken.Life)) {
				t.Fatalf("%q: %v, %v", id, made.Expires, err)
			}
			got, err := f.AppUser(t.Context(), client, f.pair(t, 1).Key, made.Token)
			if want := (AppUser{ID: id, Credential: "1 First pair", Addr: client, Expires: made.Expires}); err != nil || got != want {
				t.Errorf("%q: %+v, %v", id, got, err)
			}
		}
		for _, id := range []string{"", " 7", "7 ", "a\nb", "a\x00b", "a\xffb", "a\u200bb", strings.Repeat("x", 129)} {
			_, err := f.NewUserToken(program, id)
			wantFields(t, err, "user_id")
		}
	})
}

func TestOnlyProgramsAndTheOperatorGetUserTokens(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for rule, c := range map[string]struct {
			actor people.Actor
			code  string
		}{
			"a program":                        {program, ""},
			"the operator":                     {operator, ""},
			"an administrator":                 {user, "not_allowed"},
			"somebody who knows the key alone": {people.Actor{Kind: people.KindKey, ID: "1 First pair"}, "not_allowed"},
			"nobody":                           {people.Actor{}, "not_allowed"},
		} {
			_, err := f.NewUserToken(c.actor, "7")
			if codeOf(err) != c.code {
				t.Errorf("%s: %v", rule, err)
			}
		}
	})
}

func TestAppsThatAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		first, second := f.pair(t, 1), f.secondPair(t)
		sign := func(key usertoken.Key, user string, at time.Time) string {
			text, _ := usertoken.Mint(key, user, at)
			return text
		}
		ours := f.mustToken(t, "7")
		other := f.mustToken(t, "8")
		swapped := strings.Split(ours, ".")
		swapped[1] = strings.Split(other, ".")[1]
		named := SiteUserTokenKey(first)
		named.Issuer = userTokenIssuer
		cases := []struct{ rule, key, token, user, code string }{
			{"a token of the addon", first.Key, ours, "7", ""},
			{"a token of the addon with another key of the site", second.Key, ours, "7", ""},
			{"a token that the site signed", first.Key, sign(SiteUserTokenKey(first), "9", noon), "9", ""},
			{"a token that the site signed with the secret of another pair", first.Key, sign(SiteUserTokenKey(second), "9", noon), "", CodeUserTokenInvalid},
			{"a token that the site signed as the addon", first.Key, sign(named, "9", noon), "", CodeUserTokenInvalid},
			{"a token of the site whose clock is four minutes ahead", first.Key, sign(SiteUserTokenKey(first), "9", noon.Add(4*time.Minute)), "9", ""},
			{"a token of the site whose clock is six minutes ahead", first.Key, sign(SiteUserTokenKey(first), "9", noon.Add(6*time.Minute)), "", CodeUserTokenInvalid},
			{"a token of the site for no user that can be", first.Key, sign(SiteUserTokenKey(first), " 9", noon), "", CodeUserTokenInvalid},
			{"a token of the site for a user of too many letters", first.Key, sign(SiteUserTokenKey(first), strings.Repeat("x", 129), noon), "", CodeUserTokenInvalid},
			{"an expired token", first.Key, sign(f.userTokenKey(), "7", noon.Add(-usertoken.Life)), "", CodeUserTokenExpired},
			{"an expired token of the site", first.Key, sign(SiteUserTokenKey(first), "7", noon.Add(-time.Hour)), "", CodeUserTokenExpired},
			{"a token with the user of another", first.Key, strings.Join(swapped, "."), "", CodeUserTokenInvalid},
			{"a token of the addon with another name", first.Key, sign(usertoken.Key{Secret: f.userTokenKey().Secret, Issuer: "evil"}, "7", noon), "", CodeUserTokenInvalid},
			{"no token", first.Key, "", "", CodeUserTokenMissing},
			{"a user id as token", first.Key, "7", "", CodeUserTokenInvalid},
			{"the secret as token", first.Key, first.Secret, "", CodeUserTokenInvalid},
			{"no key", "", ours, "", "credential_unknown"},
			{"a key that was never made", token.New(prefixKey), ours, "", "credential_unknown"},
			{"the secret as key", first.Secret, ours, "", "credential_unknown"},
		}
		for _, c := range cases {
			got, err := f.AppUser(ctx, client, c.key, c.token)
			if codeOf(err) != c.code || got.ID != c.user {
				t.Errorf("%s: %+v, %v; want %q", c.rule, got, err, c.code)
			}
		}
	})
}

// User tokens have a key of their own, so what the secret has signed for another purpose is not a token.
func TestTheSecretItselfSignsNoUserTokens(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		pair := f.pair(t, 1)
		key := usertoken.Key{Issuer: pair.Key}
		copy(key.Secret[:], pair.Secret)
		text, _ := usertoken.Mint(key, "7", noon)
		_, err := f.AppUser(t.Context(), client, pair.Key, text)
		wantError(t, err, CodeUserTokenInvalid)
	})
}

func TestInactiveCredentialsAreNoApp(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx, pair, made := t.Context(), f.pair(t, 1), f.mustToken(t, "7")
		for _, half := range []Half{HalfKey, HalfSecret, HalfBoth} {
			f.deactivate(t, half)
			_, err := f.AppUser(ctx, client, pair.Key, made)
			wantError(t, err, "credential_inactive")
			// A stranger does not learn it.
			_, err = f.AppUser(ctx, client, pair.Key, "x")
			wantError(t, err, CodeUserTokenInvalid)
			if _, err := f.SetCredentialActive(ctx, operator, 1, half, true); err != nil {
				t.Fatal(err)
			}
		}
		old := f.pair(t, 1)
		site, _ := usertoken.Mint(SiteUserTokenKey(old), "7", noon)
		if _, _, err := f.RotateCredential(ctx, operator, 1); err != nil {
			t.Fatal(err)
		}
		_, err := f.AppUser(ctx, client, old.Key, made)
		wantError(t, err, "credential_unknown")
		_, err = f.AppUser(ctx, client, f.pair(t, 1).Key, site)
		wantError(t, err, CodeUserTokenInvalid)
		_, err = f.AppUser(ctx, client, f.pair(t, 1).Key, made)
		wantError(t, err, "")
	})
}

func TestANewKeyFileEndsTheUserTokensOfTheAddon(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx, pair, made := t.Context(), f.pair(t, 1), f.mustToken(t, "7")
		if _, err := f.Rekey(ctx, operator); err != nil {
			t.Fatal(err)
		}
		_, err := f.AppUser(ctx, client, pair.Key, made)
		wantError(t, err, CodeUserTokenInvalid)
		_, err = f.AppUser(ctx, client, pair.Key, f.mustToken(t, "7"))
		wantError(t, err, "")
		_, err = f.again(t).AppUser(ctx, client, pair.Key, f.mustToken(t, "7"))
		wantError(t, err, "")
	})
}

// A server verifies a token once, and remembers what it says.
func TestAUserTokenThatWasVerifiedBeforeIsComparedWithTheClock(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		pair, made := f.pair(t, 1), f.mustToken(t, "7")
		f.pairs.Live()
		want := func(when, code string) {
			t.Helper()
			for f.pairs.Cached() == nil {
				if _, err := f.pairs.Get(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			got, err := f.AppUser(t.Context(), client, pair.Key, made)
			if codeOf(err) != code || err == nil && got.ID != "7" {
				t.Errorf("%s: %+v, %v, want %q", when, got, err, code)
			}
		}
		want("at first", "")
		want("again", "")
		f.clock.move(usertoken.Life - time.Second)
		want("in its last second", "")
		f.clock.move(time.Second)
		want("at its end", CodeUserTokenExpired)
		f.clock.move(-usertoken.Life - usertoken.Skew - time.Second)
		want("long before it was issued", CodeUserTokenInvalid)
		f.clock.move(usertoken.Skew)
		want("a second before noon", "")
		if other := f.secondPair(t); other.Key == pair.Key {
			t.Fatal("the second pair has the same key")
		}
		want("with a table that was read again", "")
		made, _ = usertoken.Mint(SiteUserTokenKey(pair), "7", noon)
		want("a token of the site", "")
		pair = f.pair(t, 2)
		want("a token of the site with another pair", CodeUserTokenInvalid)
		made, pair = f.mustToken(t, "7"), f.pair(t, 1)
		want("before a new key file", "")
		if _, err := f.Rekey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		want("with a new key file", CodeUserTokenInvalid)
	})
}

// Another process on the same data knows the tokens of this one, and other addons don't.
func TestUserTokensAreThoseOfOneAddon(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		made, pair := f.mustToken(t, "7"), f.pair(t, 1)
		if _, err := f.again(t).AppUser(t.Context(), client, pair.Key, made); err != nil {
			t.Error(err)
		}
		other := usertoken.Key{Secret: f.userTokenKey().Secret, Issuer: userTokenIssuer}
		other.Secret[0] ^= 1
		text, _ := usertoken.Mint(other, "7", noon)
		_, err := f.AppUser(t.Context(), client, pair.Key, text)
		wantError(t, err, CodeUserTokenInvalid)
	})
}
