package webtest

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// Browser is somebody with a browser: it keeps cookies and follows no redirect.
type Browser struct {
	*http.Client
	T *testing.T
	// Address is scheme and host of the site, Base its path prefix.
	Address, Base string
}

// NewBrowser opens a browser for the site at an address, below the path prefix base.
func NewBrowser(t *testing.T, address, base string) *Browser {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Browser{T: t, Address: address, Base: base, Client: &http.Client{Jar: jar, CheckRedirect: stay}}
}

// Send sends a request with headers, whose names and values take turns, and checks the answer.
func (b *Browser) Send(method, path string, body io.Reader, headers ...string) *Page {
	b.T.Helper()
	r, err := http.NewRequestWithContext(b.T.Context(), method, b.Address+b.Base+path, body)
	if err != nil {
		b.T.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := b.Do(r)
	if err != nil {
		b.T.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	p := &Page{T: b.T, Response: answer, Body: string(content), Base: b.Base, Name: method + " " + path}
	p.Check()
	return p
}

// Get loads a page.
func (b *Browser) Get(path string, headers ...string) *Page {
	b.T.Helper()
	return b.Send("GET", path, nil, headers...)
}

// Post sends a form as a browser does; names and values take turns.
func (b *Browser) Post(path string, namesAndValues ...string) *Page {
	b.T.Helper()
	return b.PostForm(path, pairs(namesAndValues))
}

func pairs(namesAndValues []string) url.Values {
	form := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		form.Set(namesAndValues[i], namesAndValues[i+1])
	}
	return form
}

// PostForm sends a form as a browser does.
func (b *Browser) PostForm(path string, form url.Values) *Page {
	b.T.Helper()
	return b.Send("POST", path, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
}

// Upload sends a form with a file.
func (b *Browser) Upload(path string, file []byte, namesAndValues ...string) *Page {
	b.T.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range pairs(namesAndValues) {
		if err := w.WriteField(name, values[0]); err != nil {
			b.T.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", "key.json")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.T.Fatal(err)
	}
	return b.Send("POST", path, &body, "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
}

// Fill loads the form that posts to a path, and sends it as it stands there with
// some answers changed: names and values take turns, "-" takes one away.
func (b *Browser) Fill(page, path string, namesAndValues ...string) *Page {
	b.T.Helper()
	form := b.Get(page).Form(path)
	for i := 0; i < len(namesAndValues); i += 2 {
		if name, value := namesAndValues[i], namesAndValues[i+1]; value == "-" {
			form.Del(name)
		} else {
			form.Set(name, value)
		}
	}
	return b.PostForm(path, form)
}

// Revision is the state of the draft from which a form was made.
func (b *Browser) Revision(page, path string) string {
	b.T.Helper()
	return b.Get(page).Form(path).Get("revision")
}

// Cookie is the value of a cookie that the site has set, "" without it.
func (b *Browser) Cookie(name string) string {
	b.T.Helper()
	at, err := url.Parse(b.Address + b.Base + "/")
	if err != nil {
		b.T.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}
