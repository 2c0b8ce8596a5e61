// The program play serves a simulated Google Play to the tests of the pages, and sells in it.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/countersign/countersign/internal/play/playfake"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the address and the service account as one line of JSON, and serves until it is
// ended. POST /buy?product=…&account=… buys and answers with the token; with test=1 a license
// tester buys.
func run() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	store, err := playfake.New(playfake.Options{
		Package: "example.tuneful.app", Start: time.Now(), AccountKey: key, PushKey: key, Audience: "https://tuneful.example/", PushAccount: "push@tuneful.example",
	})
	if err != nil {
		return err
	}
	account, err := store.ServiceAccount()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", store.Handler())
	mux.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		token, err := store.Buy(playfake.BuyOptions{ProductID: q.Get("product"), Account: q.Get("account"), Test: q.Get("test") == "1"})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, token)
	})
	ready := map[string]string{"url": "http://" + listener.Addr().String(), "account": string(account)}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}
	return http.Serve(listener, mux)
}
