package blob

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// fakeS3 is a service with one bucket, shop-media, whose lists have two objects on a page.
type fakeS3 struct {
	url     string
	mu      sync.Mutex
	objects map[string][]byte
	parts   map[string][]byte // of the upload that is not complete, by their number
	largest int               // the largest body of a request in bytes
	keyID   string            // of the last request
	token   string            // of the last request
	refuse  func(r *http.Request) bool
}

func newFakeS3(t *testing.T) *fakeS3 {
	t.Helper()
	f := &fakeS3{objects: map[string][]byte{}, refuse: func(*http.Request) bool { return false }}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// open opens the bucket with more parameters of its URL.
func (f *fakeS3) open(t *testing.T, parameters string) *Bucket {
	t.Helper()
	b := must.Get(Open("s3://shop-media?region=eu-central-1&use_path_style=true&endpoint=" + f.url + parameters))(t)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// ServeHTTP implements [http.Handler].
func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, ok := strings.CutPrefix(r.URL.Path, "/shop-media/")
	credential, signed := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	f.token = r.Header.Get("X-Amz-Security-Token")
	f.keyID, credential, _ = strings.Cut(credential, "/")
	if !ok || !signed || !strings.Contains(credential, "/eu-central-1/s3/aws4_request") || f.refuse(r) {
		fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	body, err := content(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "BadDigest")
		return
	}
	f.largest = max(f.largest, len(body))
	q := r.URL.Query()
	switch {
	case key == "":
		f.list(w, q)
	case q.Has("uploads"):
		f.parts = map[string][]byte{}
		fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
	case q.Has("partNumber"):
		f.parts[q.Get("partNumber")] = body
		w.Header().Set("ETag", `"1"`)
	case q.Has("uploadId") && r.Method == http.MethodPost:
		whole := []byte{}
		for n := range len(f.parts) {
			whole = append(whole, f.parts[strconv.Itoa(n+1)]...)
		}
		f.objects[key], f.parts = whole, nil
		fmt.Fprint(w, "<CompleteMultipartUploadResult><Bucket>shop-media</Bucket></CompleteMultipartUploadResult>")
	case q.Has("uploadId"):
		f.parts = nil
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		f.objects[key] = body
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case f.objects[key] == nil:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(f.objects[key]))
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// content returns the body of a request, which the client signs in chunks where it has no TLS.
func content(r *http.Request) ([]byte, error) {
	from := io.Reader(r.Body)
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		from = httputil.NewChunkedReader(from) // which skips the signatures
	}
	body, err := io.ReadAll(from)
	sum := md5.Sum(body)
	if want := r.Header.Get("Content-Md5"); err == nil && want != "" && want != base64.StdEncoding.EncodeToString(sum[:]) {
		err = fmt.Errorf("another content")
	}
	return body, err
}

func (f *fakeS3) list(w http.ResponseWriter, q url.Values) {
	type object struct {
		Key  string
		Size int
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		EncodingType          string
		IsTruncated           bool
		NextContinuationToken string
		Contents              []object
	}
	page.EncodingType = q.Get("encoding-type")
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= cmp.Or(q.Get("continuation-token"), q.Get("start-after")) {
			continue
		}
		if len(page.Contents) == 2 {
			page.IsTruncated = true
			break
		}
		page.NextContinuationToken = key
		page.Contents = append(page.Contents, object{url.QueryEscape(key), len(f.objects[key])})
	}
	_ = xml.NewEncoder(w).Encode(page)
}
