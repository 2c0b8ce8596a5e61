package iap

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign/internal/play"
)

// maxServiceAccount is the size of the largest file that is looked at, in bytes;
// real ones have 2 to 3 KB.
const maxServiceAccount = 64 << 10

// serviceAccountType is the type of the right file (spec 2.6).
const serviceAccountType = "service_account"

// tokenURI is where the store gives access tokens to service accounts. It is pinned,
// so that no file can name another server that gets what the key has signed.
const tokenURI = "https://oauth2.googleapis.com/token"

// olderTokenURIs stand in files that were made before 2018. The store still takes their keys, at [tokenURI], which alone is
// called.
var olderTokenURIs = []string{
	"https://accounts.google.com/o/oauth2/token", "https://www.googleapis.com/oauth2/v3/token", "https://www.googleapis.com/oauth2/v4/token",
}

// olderHosts are the hosts of token_uri in old files.
var olderHosts = regexp.MustCompile(`^https://(accounts\.google|www\.googleapis)\.com/`)

// minKeyBits is the shortest RSA key that counts.
const minKeyBits = 2048

var accountEmailPattern = regexp.MustCompile(`^[^@\s]{1,128}@[A-Za-z0-9.-]{1,190}$`)

// inspected is what was found in a file that is offered as a service account.
type inspected struct {
	Type        string `json:"type"`
	ClientEmail string `json:"client_email"`
	PrivateKey  string `json:"private_key"`
	ProjectID   string `json:"project_id"`
	TokenURI    string `json:"token_uri"`

	fingerprint string
	checks      []FileCheck
}

func (i *inspected) note(ok bool, right, wrong string) bool {
	text := right
	if !ok {
		text = wrong
	}
	i.checks = append(i.checks, FileCheck{ok, text})
	return ok
}

func (i *inspected) ok() bool { return i.problem() == "" }

// problem is the first thing that is wrong, "" when all is right.
func (i *inspected) problem() string {
	for _, c := range i.checks {
		if !c.OK {
			return c.Text
		}
	}
	return ""
}

// inspect looks at a file and names the common wrong ones.
func inspect(file []byte) *inspected {
	i := &inspected{}
	file = bytes.TrimPrefix(bytes.TrimSpace(file), []byte("\xef\xbb\xbf"))
	if len(file) > maxServiceAccount {
		i.note(false, "", "The file is larger than 64 KB; a service-account file has 2 to 3 KB")
		return i
	}
	if wrong := noJSON(file); wrong != "" {
		i.note(false, "", wrong)
		return i
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(file, &members); err != nil {
		i.note(false, "", notObject(file))
		return i
	}
	i.note(true, "It is a JSON object", "")
	if wrong := wrongFile(members); wrong != "" {
		i.note(false, "", wrong)
		return i
	}
	if name := withControls(members); name != "" {
		i.note(false, "", name+" contains control characters. Use the unchanged file from the cloud console")
		return i
	}
	if err := json.Unmarshal(file, i); err != nil {
		i.note(false, "", "type, client_email, private_key, project_id and token_uri must be strings")
		return i
	}
	i.inspectMembers()
	return i
}

func (i *inspected) inspectMembers() {
	if !i.note(i.Type == serviceAccountType, "Its type is service_account", wrongType(i.Type)) {
		return
	}
	i.note(accountEmailPattern.MatchString(i.ClientEmail), "It has a client_email", "client_email is missing or not an e-mail address; use the unchanged file from the cloud console")
	if len(i.ProjectID) > 128 || strings.ContainsAny(i.ProjectID, "<>") {
		i.note(false, "", "project_id is not the name of a project")
	}
	i.inspectTokenURI()
	key, err := parseKey(i.PrivateKey)
	if err != nil {
		i.note(false, "", "private_key is not usable: "+err.Error()+". Use the unchanged file from the cloud console")
		return
	}
	i.note(true, "Its private_key can be read", "")
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if i.note(err == nil, "The key has a fingerprint", "private_key is not usable") {
		sum := sha256.Sum256(public)
		i.fingerprint = hex.EncodeToString(sum[:8])
	}
}

func (i *inspected) inspectTokenURI() {
	switch {
	case i.TokenURI == tokenURI || i.TokenURI == "":
		i.note(true, "Its token_uri is correct", "")
	case slices.Contains(olderTokenURIs, i.TokenURI):
		i.note(true, "Its token_uri is of an older form; "+tokenURI+" is used", "")
	case olderHosts.MatchString(i.TokenURI):
		i.note(false, "", "token_uri is of an old form that the store no longer uses. Create a new key of the type JSON for the service account in the cloud console")
	default:
		i.note(false, "", "token_uri must be "+tokenURI+". Use the unchanged file from the cloud console")
	}
}

// parseKey reads the private key. Its errors never quote what they read.
func parseKey(text string) (*rsa.PrivateKey, error) {
	if text == "" {
		return nil, errors.New("it is missing")
	}
	block, rest := pem.Decode(play.KeyText(text))
	if block == nil && strings.HasPrefix(text, base64OfPEM) {
		return nil, errors.New("it is encoded in base64 once more")
	}
	if block == nil && !strings.ContainsAny(string(play.KeyText(strings.TrimSpace(text))), "\r\n") && strings.Contains(text, "-----BEGIN") {
		return nil, errors.New("its line breaks are missing")
	}
	if block == nil {
		return nil, errors.New("it is not a PEM block that begins with -----BEGIN PRIVATE KEY-----")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("unexpected text after the PEM block")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil && block.Type == "RSA PRIVATE KEY" {
		return longEnough(key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is damaged")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an RSA key")
	}
	return longEnough(key)
}

func longEnough(key *rsa.PrivateKey) (*rsa.PrivateKey, error) {
	if key.N.BitLen() < minKeyBits {
		return nil, errors.New("its RSA key is shorter than 2048 bits")
	}
	return key, nil
}

// base64OfPEM is how a PEM block begins in base64.
const base64OfPEM = "LS0tLS1CRUdJTi"

// isBase64OfJSON reports whether a file is base64 of a JSON object, as deployment tools keep it.
func isBase64OfJSON(file []byte) bool {
	text := strings.TrimRight(strings.Join(strings.Fields(string(file)), ""), "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if plain, err := encoding.DecodeString(text); err == nil && bytes.HasPrefix(bytes.TrimSpace(plain), []byte("{")) {
			return true
		}
	}
	return false
}

// isUTF16 reports whether a file has the byte order mark of UTF-16, or the zeros that ASCII has in it.
func isUTF16(file []byte) bool {
	for _, begin := range []string{"\xff\xfe", "\xfe\xff", "{\x00", "\x00{"} {
		if bytes.HasPrefix(file, []byte(begin)) {
			return true
		}
	}
	return false
}

// noJSON names files that are not JSON at all, "" for what may be.
func noJSON(file []byte) string {
	switch {
	case len(file) == 0:
		return "The file is empty"
	case isUTF16(file):
		return "The file is in UTF-16. Save it as UTF-8, or use the unchanged file from the cloud console"
	case isBase64OfJSON(file):
		return "The file is encoded in base64. Decode it: a service-account file begins with {"
	case bytes.HasPrefix(file, []byte("bplist")), bytes.HasPrefix(file, []byte("<")) && bytes.Contains(file, []byte("plist")):
		return "This is the mobile configuration file for iOS (GoogleService-Info.plist), not the service account"
	case bytes.HasPrefix(file, []byte("<")):
		return "This is a web page or another XML file, not the service account"
	case bytes.HasPrefix(file, []byte("-----BEGIN")):
		return "This is only a key (a .pem or .p8 file), not the service account. Use the JSON file that contains it"
	case bytes.HasPrefix(file, []byte("AIza")):
		return "This is an API key, not the service account"
	case bytes.HasPrefix(file, []byte{0x30, 0x82}):
		return "This is a key in another format (a .p12 file), not the service account; create a key of the type JSON"
	}
	return ""
}

// notObject returns why a file could not be read as a JSON object.
func notObject(file []byte) string {
	value := jsontext.Value(file)
	if value.IsValid() && value.Kind() != jsontext.KindBeginObject {
		return "Invalid file: expected a JSON object, which begins with {"
	}
	return "This is not valid JSON; was it cut off or changed in an editor?"
}

// wrongFile recognises other JSON files of the same consoles by their members.
func wrongFile(members map[string]jsontext.Value) string {
	has := func(names ...string) bool {
		for _, name := range names {
			if _, there := members[name]; !there {
				return false
			}
		}
		return true
	}
	switch {
	case has("project_info") || has("client", "configuration_version"):
		return "This is the mobile configuration file (google-services.json), not the service account"
	case has("installed") || has("web"):
		return "This is an OAuth client file, not the service account"
	case has("client_id", "client_secret") && !has("type"):
		return "This is an OAuth client file, not the service account"
	case has("apiKey"):
		return "This is the configuration of a web app, not the service account"
	case has("store"):
		return "This is the product map, not the service account"
	case has("keys"):
		return "This is a set of public keys, not the service account"
	}
	return ""
}

// withControls names a member with characters that a terminal obeys or a reader does not see, "" for none. The key has
// line breaks, and is never shown.
func withControls(members map[string]jsontext.Value) string {
	hidden := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if strings.ContainsFunc(name, hidden) {
			return "The name of a member"
		}
		text := ""
		if name != "private_key" && json.Unmarshal(members[name], &text) == nil && strings.ContainsFunc(text, hidden) {
			return name
		}
	}
	return ""
}

func wrongType(found string) string {
	switch found {
	case "":
		return "type is missing; a service-account file has the type service_account"
	case "authorized_user":
		return "This is the sign-in of a person (authorized_user), not the service account"
	case "external_account":
		return "This is a federated identity without a key (external_account); create a key of the type JSON for the service account"
	}
	return "type is not service_account; this is another file"
}

// FileCheck is one line of what was found in a file that is offered as a service
// account.
type FileCheck struct {
	OK   bool
	Text string
}
