package frame

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/wording"
)

// Upload is a posted form with one file, which is read piece by piece and never held in memory.
type Upload struct {
	// Values are those of the fields that stand before the file.
	Values url.Values
	// Name is the file's name without folders; it is "", and File is nil, when none was chosen.
	Name string
	File io.Reader
}

// Limits of what comes with a file. The fields before it share maxForm bytes.
const (
	maxUploadFields = 100
	maxFileName     = 255 // characters
)

// AdminUpload is [Frame.Admin] for a form with a file, of at most limit bytes together, which
// the handler reads by [Request.Upload]. A user who is signed out has to choose the file again.
func (f *Frame) AdminUpload(limit int64, h Handler) http.Handler {
	page := asPage(h)
	signIn := asOnlyPage(func(w http.ResponseWriter, r *Request) error {
		return f.Redirect(w, r, f.SignIn+"?next="+url.QueryEscape(r.URL.RequestURI()), "")
	})
	return f.upTo(limit, func(w http.ResponseWriter, r *Request) error {
		if r.User.ID == 0 {
			return signIn(w, r)
		}
		return page(w, r)
	})
}

// Upload reads the form up to its file, the field of a name, which is the last one. The errors,
// also of reading the file, are too large (body_too_large) and invalid (bad_body).
func (r *Request) Upload(w http.ResponseWriter, name string) (u Upload, err error) {
	if r.ContentLength > r.maxBody {
		return u, r.uploadError(&http.MaxBytesError{Limit: r.maxBody}) // before any of it arrives
	}
	parts, err := r.MultipartReader()
	if err != nil { // a form without files
		u.Values, err = r.PostValues()
		return u, err
	}
	u.Values = url.Values{}
	room := maxForm
	for fields := 0; ; fields++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return u, checkUpload(u)
		}
		if err != nil {
			return u, r.uploadError(err)
		}
		if part.FormName() == name {
			if u.Name = fileName(part); u.Name != "" {
				u.File = &slowly{w, r, part}
			}
			return u, checkUpload(u)
		}
		value, err := io.ReadAll(io.LimitReader(part, int64(room)+1))
		if err != nil {
			return u, r.uploadError(err)
		}
		room -= len(part.FormName()) + len(value)
		if room < 0 || fields == maxUploadFields {
			return u, fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, "The fields before the file are larger than 1 MB, or too many. Nothing was saved: send less at once.")
		}
		u.Values.Add(part.FormName(), string(value))
	}
}

// fileName is the name of a part's file, without the folders that some browsers send and
// without characters that can't be seen or turn the text around them.
func fileName(part *multipart.Part) string {
	name := part.FileName()
	if name == "" || !isText(name) {
		return name
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r) && !unicode.IsControl(r):
			return ' '
		}
		return -1
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	return cmp.Or(name, "file")
}

func checkUpload(u Upload) error {
	if utf8.RuneCountInString(u.Name) > maxFileName {
		return badForm(fmt.Sprintf("The name of the file is longer than %d characters. Nothing was saved: rename the file and send it again.", maxFileName), errNoText)
	}
	err := checkText(u.Values)
	if err == nil && !isText(u.Name) {
		err = errNoText
	}
	if err != nil {
		return badForm("The form contains invalid characters. Nothing was saved: rename the file and send it again.", err)
	}
	return nil
}

// uploadError is an error of reading a form with a file.
func (r *Request) uploadError(err error) error {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		text := "The file is larger than " + wording.Size(r.maxBody) + ". Nothing was saved: divide it into smaller ones."
		return fault.WithCause(fault.New(countersign.KindTooLarge, countersign.CodeBodyTooLarge, text), err)
	}
	return badForm("The file did not arrive as a whole. Nothing was saved: send it again.", err)
}

// pieceWait is how long the server waits for the next piece of a file.
const pieceWait = 15 * time.Second

// slowly reads a file from a client, which has pieceWait for each piece: a large file takes
// longer than any other request may.
type slowly struct {
	w    http.ResponseWriter
	r    *Request
	from io.Reader
}

// Read implements [io.Reader].
func (p *slowly) Read(b []byte) (int, error) {
	control := http.NewResponseController(p.w)
	_ = control.SetReadDeadline(time.Now().Add(pieceWait)) // without it, the server's limit is for the whole file
	_ = control.SetWriteDeadline(time.Now().Add(2 * pieceWait))
	n, err := p.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = p.r.uploadError(err)
	}
	return n, err
}
