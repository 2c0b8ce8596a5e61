package webtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// Unfinished sends the beginning of a request to a server and waits for the response, while the rest of the request
// never comes. A server that waits for the rest fails the test.
func Unfinished(t testing.TB, url, beginning string) *http.Response {
	t.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	t.Cleanup(func() { _ = c.Close() })
	const hang = 30 * time.Second // ends a server that waits
	must.Do(t, c.SetDeadline(time.Now().Add(hang)))
	must.Get(io.WriteString(c, beginning))(t)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal("no answer before the end of the request: ", err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// Chunks is a chunked body of n bytes that does not end.
func Chunks(n int) string {
	const size = 0x400
	return strings.Repeat("400\r\n"+strings.Repeat("x", size)+"\r\n", n/size) + "400\r\n"
}
