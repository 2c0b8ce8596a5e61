package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
)

// crowd is how many clients are connected at once, all of them before the first
// request is sent; turns is how many requests each of them makes.
const (
	crowd = 2000
	turns = 2
)

// asked is a request of the crowd and the answer it must get.
type asked struct {
	request string
	status  int
	body    string // what the answer's body contains
}

func crowdRequests() []asked {
	post := func(key, form string) string {
		return fmt.Sprintf("POST /api/purchases/validation HTTP/1.1\r\nHost: shop.example\r\nX-Api-Key: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", key, len(form), form)
	}
	get := func(target, key string) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: shop.example\r\nX-Api-Key: %s\r\n\r\n", target, key)
	}
	return []asked{
		{post(adaKey, "purchase_code="+adaCode), 200, `"purchase_code":"` + adaCode + `"`},
		{post(adaKey, "purchase_code=nobody-sold-this"), 404, `{"status":"error","msg":"Invalid purchase code"}`},
		{post(adaKey, "purchase_code="+adaRefunded), 404, `{"status":"error","msg":"Invalid purchase code"}`},
		{post("nobody-has-this-key", "purchase_code="+adaCode), 401, `{"status":"error","msg":"Invalid request"}`},
		{post(adaKey, "purchase_code=%zz"), 400, `{"status":"error","msg":"Invalid request"}`},
		{get("/api/account/details", adaKey), 200, `"username":"ada"`},
		{get("/api/items/item?item_id=1229", adaKey), 200, `"id":1229,`},
		{get("/api/items/item?item_id=201", adaKey), 404, `{"status":"error","msg":"Item Not Found"}`},
	}
}

func TestTwoThousandClientsAtOnceGetTheRightAnswers(t *testing.T) {
	shopStore.Engines(t, serveCrowd)
}

func serveCrowd(t *testing.T, db dbtest.DB) {
	s := openShop(t, db)
	background(t, s)
	ctx, stop := context.WithCancel(t.Context())
	listener := must.Get(web.Listen("127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() {
		served <- web.Serve(ctx, listener, newHandler(s, 0), web.ServerOptions{Longer: time.Hour})
	}()
	address := listener.Addr().String()

	visit(t, address, 50) // what the first requests allocate for good
	before := heap()
	visit(t, address, crowd)
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("the heap holds %d MiB more than before the crowd came", grown>>20)
	}
	stop()
	expect.NoError(t, <-served)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// visit connects clients, lets all of them ask at once, and reads every answer.
func visit(t *testing.T, address string, clients int) {
	t.Helper()
	connections := make([]net.Conn, clients)
	for i := range connections {
		c := must.Get(net.Dial("tcp", address))(t)
		defer c.Close()
		connections[i] = c
	}
	requests := crowdRequests()
	var wait sync.WaitGroup
	for i, c := range connections {
		wait.Go(func() {
			answers := bufio.NewReader(c)
			for turn := range turns {
				a := requests[(i+turn)%len(requests)]
				if err := a.ask(c, answers); err != nil {
					t.Errorf("client %d, turn %d: %v", i, turn, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

func (a asked) ask(c io.Writer, answers *bufio.Reader) error {
	if _, err := io.WriteString(c, a.request); err != nil {
		return err
	}
	r, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != a.status || !strings.Contains(string(body), a.body) {
		return fmt.Errorf("%q: status %d, body %s", strings.SplitN(a.request, "\r\n", 2)[0], r.StatusCode, body)
	}
	return r.Body.Close()
}
