package credential_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/token"
)

// pairOf reveals the API credentials with an id.
func pairOf(t *testing.T, f *addontest.Fixture, id int64) credential.Values {
	t.Helper()
	_, pair, err := f.Credentials.Reveal(t.Context(), operator, id)
	must.Do(t, err)
	return pair
}

func secondPair(t *testing.T, f *addontest.Fixture) credential.Values {
	t.Helper()
	_, pair, err := f.Credentials.Create(t.Context(), operator, "Second")
	must.Do(t, err)
	return pair
}

func mustToken(t *testing.T, f *addontest.Fixture, userID string) string {
	t.Helper()
	made := must.Get(f.Credentials.NewUserToken(program, userID))(t)
	return made.Token
}

func TestAUserTokenIsForTheUserItWasMadeFor(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, id := range []string{"7", "Müşik ♪", "ada@site.example", strings.Repeat("ü", 128), `"},{"sub":"8`} {
			made, err := f.Credentials.NewUserToken(program, id)
			if err != nil || !made.Expires.Equal(noon.Add(usertoken.Life)) {
				t.Fatalf("%q: %v, %v", id, made.Expires, err)
			}
			got, err := f.Credentials.AppUser(t.Context(), client, pairOf(t, f, 1).Key, made.Token)
			if want := (credential.AppUser{ID: id, Credential: "1 First pair", Addr: client, Expires: made.Expires}); err != nil || got != want {
				t.Errorf("%q: %+v, %v", id, got, err)
			}
		}
		for _, id := range []string{"", " 7", "7 ", "a\nb", "a\x00b", "a\xffb", "a\u200bb", strings.Repeat("x", 129)} {
			_, err := f.Credentials.NewUserToken(program, id)
			addontest.WantFields(t, err, "user_id")
		}
	})
}

func TestOnlyProgramsAndTheOperatorGetUserTokens(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
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
			_, err := f.Credentials.NewUserToken(c.actor, "7")
			expect.Equalf(t, addontest.CodeOf(err), c.code, "%s: %v", rule, err)
		}
	})
}

func TestAppsThatAreRefused(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		first, second := pairOf(t, f, 1), secondPair(t, f)
		sign := func(key usertoken.Key, user string, at time.Time) string {
			text, _ := usertoken.Mint(key, user, at)
			return text
		}
		ours := mustToken(t, f, "7")
		other := mustToken(t, f, "8")
		swapped := strings.Split(ours, ".")
		swapped[1] = strings.Split(other, ".")[1]
		named := credential.SiteTokenKey(first)
		named.Issuer = credential.UserTokenIssuer
		cases := []struct{ rule, key, token, user, code string }{
			{"a token of the addon", first.Key, ours, "7", ""},
			{"a token of the addon with another key of the site", second.Key, ours, "7", ""},
			{"a token that the site signed", first.Key, sign(credential.SiteTokenKey(first), "9", noon), "9", ""},
			{"a token that the site signed with the secret of another pair", first.Key, sign(credential.SiteTokenKey(second), "9", noon), "", credential.CodeUserTokenInvalid},
			{"a token that the site signed as the addon", first.Key, sign(named, "9", noon), "", credential.CodeUserTokenInvalid},
			{"a token of the site whose clock is four minutes ahead", first.Key, sign(credential.SiteTokenKey(first), "9", noon.Add(4*time.Minute)), "9", ""},
			{"a token of the site whose clock is six minutes ahead", first.Key, sign(credential.SiteTokenKey(first), "9", noon.Add(6*time.Minute)), "", credential.CodeUserTokenInvalid},
			{"a token of the site for no user that can be", first.Key, sign(credential.SiteTokenKey(first), " 9", noon), "", credential.CodeUserTokenInvalid},
			{"a token of the site for a user of too many letters", first.Key, sign(credential.SiteTokenKey(first), strings.Repeat("x", 129), noon), "", credential.CodeUserTokenInvalid},
			{"an expired token", first.Key, sign(f.Credentials.UserTokenKey(), "7", noon.Add(-usertoken.Life)), "", credential.CodeUserTokenExpired},
			{"an expired token of the site", first.Key, sign(credential.SiteTokenKey(first), "7", noon.Add(-time.Hour)), "", credential.CodeUserTokenExpired},
			{"a token with the user of another", first.Key, strings.Join(swapped, "."), "", credential.CodeUserTokenInvalid},
			{"a token of the addon with another name", first.Key, sign(usertoken.Key{Secret: f.Credentials.UserTokenKey().Secret, Issuer: "evil"}, "7", noon), "", credential.CodeUserTokenInvalid},
			{"no token", first.Key, "", "", credential.CodeUserTokenMissing},
			{"a user id as token", first.Key, "7", "", credential.CodeUserTokenInvalid},
			{"the secret as token", first.Key, first.Secret, "", credential.CodeUserTokenInvalid},
			{"no key", "", ours, "", "credential_unknown"},
			{"a key that was never made", token.New("cak_"), ours, "", "credential_unknown"},
			{"the secret as key", first.Secret, ours, "", "credential_unknown"},
		}
		for _, c := range cases {
			got, err := f.Credentials.AppUser(ctx, client, c.key, c.token)
			if addontest.CodeOf(err) != c.code || got.ID != c.user {
				t.Errorf("%s: %+v, %v; want %q", c.rule, got, err, c.code)
			}
		}
	})
}

// User tokens have a key of their own, so what the secret has signed for another purpose is not a token.
func TestTheSecretItselfSignsNoUserTokens(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		pair := pairOf(t, f, 1)
		key := usertoken.Key{Issuer: pair.Key}
		copy(key.Secret[:], pair.Secret)
		text, _ := usertoken.Mint(key, "7", noon)
		_, err := f.Credentials.AppUser(t.Context(), client, pair.Key, text)
		addontest.WantError(t, err, credential.CodeUserTokenInvalid)
	})
}

func TestInactiveCredentialsAreNoApp(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx, pair, made := t.Context(), pairOf(t, f, 1), mustToken(t, f, "7")
		for _, half := range []credential.Half{credential.HalfKey, credential.HalfSecret, credential.HalfBoth} {
			mustSwitch(t, f, 1, half, false)
			_, err := f.Credentials.AppUser(ctx, client, pair.Key, made)
			addontest.WantError(t, err, "credential_inactive")
			// A stranger does not learn it.
			_, err = f.Credentials.AppUser(ctx, client, pair.Key, "x")
			addontest.WantError(t, err, credential.CodeUserTokenInvalid)
			must.Get(f.Credentials.SetActive(ctx, operator, 1, half, true))(t)
		}
		old := pairOf(t, f, 1)
		site, _ := usertoken.Mint(credential.SiteTokenKey(old), "7", noon)
		if _, _, err := f.Credentials.Rotate(ctx, operator, 1); err != nil {
			t.Fatal(err)
		}
		_, err := f.Credentials.AppUser(ctx, client, old.Key, made)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Credentials.AppUser(ctx, client, pairOf(t, f, 1).Key, site)
		addontest.WantError(t, err, credential.CodeUserTokenInvalid)
		_, err = f.Credentials.AppUser(ctx, client, pairOf(t, f, 1).Key, made)
		addontest.WantError(t, err, "")
	})
}

func TestANewKeyFileEndsTheUserTokensOfTheAddon(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx, pair, made := t.Context(), pairOf(t, f, 1), mustToken(t, f, "7")
		must.Get(f.Rekey(ctx, operator))(t)
		_, err := f.Credentials.AppUser(ctx, client, pair.Key, made)
		addontest.WantError(t, err, credential.CodeUserTokenInvalid)
		_, err = f.Credentials.AppUser(ctx, client, pair.Key, mustToken(t, f, "7"))
		addontest.WantError(t, err, "")
		_, err = f.Again(t).Credentials.AppUser(ctx, client, pair.Key, mustToken(t, f, "7"))
		addontest.WantError(t, err, "")
	})
}

// A server verifies a token once, and remembers what it says.
func TestAUserTokenThatWasVerifiedBeforeIsComparedWithTheClock(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		pair, made := pairOf(t, f, 1), mustToken(t, f, "7")
		f.Credentials.Pairs().Live()
		want := func(when, code string) {
			t.Helper()
			for f.Credentials.Pairs().Cached() == nil {
				must.Get(f.Credentials.Pairs().Get(t.Context()))(t)
			}
			got, err := f.Credentials.AppUser(t.Context(), client, pair.Key, made)
			if addontest.CodeOf(err) != code || err == nil && got.ID != "7" {
				t.Errorf("%s: %+v, %v, want %q", when, got, err, code)
			}
		}
		want("at first", "")
		want("again", "")
		f.Clock.Move(usertoken.Life - time.Second)
		want("in its last second", "")
		f.Clock.Move(time.Second)
		want("at its end", credential.CodeUserTokenExpired)
		f.Clock.Move(-usertoken.Life - usertoken.Skew - time.Second)
		want("long before it was issued", credential.CodeUserTokenInvalid)
		f.Clock.Move(usertoken.Skew)
		want("a second before noon", "")
		if other := secondPair(t, f); other.Key == pair.Key {
			t.Fatal("the second pair has the same key")
		}
		want("with a table that was read again", "")
		made, _ = usertoken.Mint(credential.SiteTokenKey(pair), "7", noon)
		want("a token of the site", "")
		pair = pairOf(t, f, 2)
		want("a token of the site with another pair", credential.CodeUserTokenInvalid)
		made, pair = mustToken(t, f, "7"), pairOf(t, f, 1)
		want("before a new key file", "")
		must.Get(f.Rekey(t.Context(), operator))(t)
		want("with a new key file", credential.CodeUserTokenInvalid)
	})
}

// Another process on the same data knows the tokens of this one, and other addons don't.
func TestUserTokensAreThoseOfOneAddon(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		made, pair := mustToken(t, f, "7"), pairOf(t, f, 1)
		if _, err := f.Again(t).Credentials.AppUser(t.Context(), client, pair.Key, made); err != nil {
			t.Error(err)
		}
		other := usertoken.Key{Secret: f.Credentials.UserTokenKey().Secret, Issuer: credential.UserTokenIssuer}
		other.Secret[0] ^= 1
		text, _ := usertoken.Mint(other, "7", noon)
		_, err := f.Credentials.AppUser(t.Context(), client, pair.Key, text)
		addontest.WantError(t, err, credential.CodeUserTokenInvalid)
	})
}
