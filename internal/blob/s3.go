package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// onePut is up to how many bytes one request sends.
	onePut = 5 << 20
	// partSize is the size of the parts of a larger file, in bytes. One of them is in memory. A
	// file has at most 10,000, which are 156 GiB.
	partSize = 16 << 20
	// tries is how often a request is sent that may succeed later.
	tries = 3
)

// s3 is a bucket of S3 or of a service that speaks its protocol.
type s3 struct {
	client    minio.Core
	name      string
	prefix    string
	closeIdle func()
}

var errParameters = errors.New("the parameters of the URL are not valid: expected some of region, endpoint, use_path_style, prefix and profile")

func openS3(u *url.URL) (*s3, error) {
	q, err := parameters(u.RawQuery)
	if err != nil {
		return nil, err
	}
	endpoint := cmp.Or(q["endpoint"], "https://s3.amazonaws.com")
	secure := strings.HasPrefix(endpoint, "https://")
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	o := minio.Options{Creds: awsCredentials(q["profile"]), Secure: secure, Transport: transport, Region: q["region"], MaxRetries: tries}
	if !secure && !strings.HasPrefix(endpoint, "http://") {
		return nil, errParameters
	}
	if q["endpoint"] != "" {
		o.BucketLookup = minio.BucketLookupDNS // also of services that are not Amazon's
	}
	if pathStyle, err := strconv.ParseBool(cmp.Or(q["use_path_style"], "false")); err != nil {
		return nil, errParameters
	} else if pathStyle {
		o.BucketLookup = minio.BucketLookupPath
	}
	client, err := minio.New(endpoint, &o)
	if err != nil {
		return nil, errParameters // the library quotes the endpoint
	}
	return &s3{client: minio.Core{Client: client}, name: u.Host, prefix: q["prefix"], closeIdle: transport.CloseIdleConnections}, nil
}

// parameters returns the known parameters of a URL. Others are an error.
func parameters(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	known := map[string]string{}
	for _, name := range []string{"region", "endpoint", "use_path_style", "prefix", "profile"} {
		known[name] = values.Get(name)
		values.Del(name)
	}
	if err != nil || len(values) > 0 {
		return nil, errParameters
	}
	return known, nil
}

// awsCredentials finds credentials where AWS's own tools do: in the environment, in their files, and
// at the service for the role of a container or a machine. A named profile is before the environment.
func awsCredentials(profile string) *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{Profile: profile}, &credentials.IAM{}}
	if profile != "" {
		chain = chain[1:]
	}
	return credentials.New(required{&credentials.Chain{Providers: chain}})
}

// required are credentials without which no request is sent.
type required struct{ credentials.Provider }

// RetrieveWithCredContext implements [credentials.Provider].
func (r required) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := r.Provider.RetrieveWithCredContext(c)
	if err == nil && v.SignerType.IsAnonymous() {
		err = ErrNoCredentials
	}
	return v, err
}

func (s *s3) exist(string) bool { return true }

func (s *s3) close() { s.closeIdle() }

// write sends a small file at once and a larger one in parts, because its size is not known.
func (s *s3) write(ctx context.Context, key string, from io.Reader) (int64, error) {
	o := minio.PutObjectOptions{
		ContentType:    "application/octet-stream", // whatever it is, no other server shows it as a page
		SendContentMd5: true,                       // buckets that keep objects for a time demand it
		PartSize:       partSize,
	}
	var begin bytes.Buffer
	size, err := io.CopyN(&begin, from, onePut)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	var all io.Reader = bytes.NewReader(begin.Bytes()) // can be sent again
	if err == nil {
		all, size = io.MultiReader(&begin, from), -1
	}
	info, err := s.client.Client.PutObject(ctx, s.name, s.prefix+key, all, size, o)
	return info.Size, err
}

func (s *s3) remove(ctx context.Context, key string) error {
	err := s.client.RemoveObject(ctx, s.name, s.prefix+key, minio.RemoveObjectOptions{})
	if isMissing(err) {
		return nil
	}
	return err
}

func isMissing(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

func (s *s3) list(ctx context.Context, prefix string) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		for o := range s.client.ListObjectsIter(ctx, s.name, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
			if !yield(file{strings.TrimPrefix(o.Key, s.prefix), o.Size}, o.Err) || o.Err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil { // the list ends early without an error
			yield(file{}, err)
		}
	}
}

func (s *s3) read(ctx context.Context, key string) (Reader, error) {
	ctx, end := context.WithCancel(ctx)
	o := &object{end: end, open: func(at int64) (io.ReadCloser, int64, error) {
		defer time.AfterFunc(openTime, end).Stop()
		var options minio.GetObjectOptions
		if at > 0 {
			if err := options.SetRange(at, 0); err != nil {
				return nil, 0, err
			}
		}
		body, info, _, err := s.client.GetObject(ctx, s.name, s.prefix+key, options)
		return body, info.Size, err
	}}
	var err error
	o.body, o.size, err = o.open(0)
	switch {
	case err == nil && o.size >= 0:
		return Reader{o, o.size}, nil
	case err == nil:
		err = errors.New("the response has no length")
	case isMissing(err):
		err = ErrNotFound
	}
	end()
	return Reader{}, err
}

// object reads an object of a bucket. After a seek to another place, the next read asks for the
// rest from there.
type object struct {
	open func(at int64) (rest io.ReadCloser, size int64, err error)
	end  context.CancelFunc
	body io.ReadCloser
	size int64 // in bytes
	at   int64 // where the next read begins
	next int64 // where the body goes on
}

// Read implements [io.Reader].
func (o *object) Read(p []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.at != o.next {
		_ = o.body.Close()
		body, _, err := o.open(o.at)
		if err != nil {
			return 0, err
		}
		o.body, o.next = body, o.at
	}
	n, err := o.body.Read(p)
	o.at += int64(n)
	o.next = o.at
	return n, err
}

// Seek implements [io.Seeker].
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("blob: seek before the beginning of a file")
	}
	o.at = offset
	return offset, nil
}

// Close implements [io.Closer].
func (o *object) Close() error {
	defer o.end()
	return o.body.Close()
}
